import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { RecurringJob } from '../../infrastructure/database/index.js';
import { SECOND } from '../../infrastructure/time/index.js';
import { SignInLinksService } from './sign-in-links.service.js';

/**
 * Publishes the events of expired links. Has the gateway undo sign-ins whose link was cancelled or expired before the service could
 * complete the sign-in, for example because the process was killed.
 */
@Injectable()
export class EndedLinksJob extends RecurringJob {
  constructor(private readonly links: SignInLinksService) {
    super('Sign-in links', 'Links that have ended could not be processed');
  }

  @Interval(5 * SECOND)
  run(): Promise<void> {
    return this.start(() =>
      this.forEach([() => this.publishExpired(), () => this.undoEnded()], (work) => work()),
    );
  }

  private async publishExpired(): Promise<void> {
    try {
      while (!this.stopped.aborted && (await this.links.publishExpired()));
    } catch (error) {
      this.report(error);
      // A page is one transaction, which one link may have failed.
      await this.forEach(await this.links.expired(), (id) => this.links.publishExpired(1, id));
    }
  }

  private async undoEnded(): Promise<void> {
    while (!this.stopped.aborted && (await this.links.undoEnded()));
  }
}
