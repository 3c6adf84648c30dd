import { Injectable, Logger } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { JobLock } from '../../infrastructure/database/index.js';
import { hourlyAt } from '../../infrastructure/time/index.js';
import { DomainProofsService } from './domain-proofs.service.js';

const DOMAINS_PER_RUN = 1_000;

/** Checks the proof of each domain once a day. */
@Injectable()
export class DomainProofsJob {
  private readonly logger = new Logger('Domains');

  constructor(
    private readonly proofs: DomainProofsService,
    private readonly lock: JobLock,
  ) {}

  @Cron(hourlyAt(15))
  async run(): Promise<void> {
    await this.lock.runExclusively('domain-proofs', async () => {
      for (const domain of await this.proofs.due(DOMAINS_PER_RUN))
        await this.proofs
          .checkAgain(domain)
          .catch((error: unknown) => this.logger.error('The proof of a domain could not be checked', error));
    });
  }
}
