import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { RecurringJob } from '../../../infrastructure/database/index.js';
import { BackgroundTasks, PublicAddress } from '../../../infrastructure/http/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { PasswordResetsService } from './password-resets.service.js';

/** Sends the requested links, including those that a killed process left behind. */
@Injectable()
export class PasswordResetsJob extends RecurringJob {
  constructor(
    private readonly resets: PasswordResetsService,
    private readonly publicAddress: PublicAddress,
    private readonly tasks: BackgroundTasks,
  ) {
    super('Mail', 'Requests for new passwords could not be processed');
  }

  @Interval(5 * SECOND)
  run(): Promise<void> {
    return this.start(async () => {
      // A worker may not know the address for the links.
      if (this.publicAddress.find('dashboard') === undefined) return;
      await this.forEach(await this.resets.waiting(), ({ id }) => this.resets.process(id));
    });
  }

  /** Continues after the response. A run in progress may have missed the last request, so another one follows. */
  begin(): void {
    this.tasks.begin(() => this.run().then(() => this.run()));
  }
}
