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
    return this.start(async () => {
      while (await this.links.publishExpired());
      while (await this.links.undoEnded());
    });
  }
}
