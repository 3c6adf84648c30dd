import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { RecurringJob } from '../../infrastructure/database/index.js';
import { Clock, SECOND } from '../../infrastructure/time/index.js';
import { MerchantSignIn } from './merchant-sign-in.js';
import { SignInLinksService } from './sign-in-links.service.js';
import { SignInLinksRepository } from './sign-in-links.repository.js';

/** Milliseconds after a request to the gateway. By then, no process waits for its response. */
const UNDO_AFTER = 45 * SECOND;
const SIGN_INS_PER_RUN = 20;

/**
 * Publishes the events of expired links. Undoes sign-ins whose link was cancelled or expired before the service could complete the
 * sign-in, for example because the process was killed. Repeats each request until the gateway confirms it.
 */
@Injectable()
export class EndedLinksJob extends RecurringJob {
  constructor(
    private readonly links: SignInLinksService,
    private readonly repository: SignInLinksRepository,
    private readonly merchantSignIn: MerchantSignIn,
    private readonly clock: Clock,
  ) {
    super('Sign-in links', 'Links that have ended could not be processed');
  }

  @Interval(5 * SECOND)
  run(): Promise<void> {
    return this.start(() => this.work());
  }

  private async work(): Promise<void> {
    while (await this.links.publishExpired());
    const now = this.clock.now();
    const askedBefore = new Date(now.getTime() - UNDO_AFTER);
    const signIns = await this.repository.claimSignInsToUndo(askedBefore, now, SIGN_INS_PER_RUN);
    await Promise.all(
      signIns.map(async (signIn) => {
        if (await this.merchantSignIn.undo(signIn))
          await this.repository.clearSignIn(signIn.id, signIn.signInId);
      }),
    );
  }
}
