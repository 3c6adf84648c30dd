import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { isDatabaseUnavailable } from '../../infrastructure/database/index.js';
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
export class EndedLinksJob implements OnApplicationShutdown {
  private readonly logger = new Logger('Sign-in links');
  private running: Promise<void> | undefined;

  constructor(
    private readonly links: SignInLinksService,
    private readonly repository: SignInLinksRepository,
    private readonly merchantSignIn: MerchantSignIn,
    private readonly clock: Clock,
  ) {}

  @Interval(5 * SECOND)
  run(): Promise<void> {
    this.running ??= this.publishExpired()
      .then(() => this.undoAll())
      .catch((error: unknown) => {
        if (!isDatabaseUnavailable(error))
          this.logger.error('Links that have ended could not be processed', error);
      })
      .finally(() => (this.running = undefined));
    return this.running;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.running;
  }

  private async publishExpired(): Promise<void> {
    while (await this.links.publishExpired());
  }

  private async undoAll(): Promise<void> {
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
