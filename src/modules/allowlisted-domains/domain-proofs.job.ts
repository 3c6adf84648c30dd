import { Injectable, Logger } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { JobLock, KeyedQueue } from '../../infrastructure/database/index.js';
import { hourlyAt } from '../../infrastructure/time/index.js';
import type { AllowlistedDomain } from './allowlisted-domain.entity.js';
import { DomainProofsService } from './domain-proofs.service.js';

const DOMAINS_PER_RUN = 1_000;

/** DNS servers that do not respond must not delay the checks of other domains for hours. */
const CONCURRENT_CHECKS = 20;

/** Checks the proof of each domain once a day. */
@Injectable()
export class DomainProofsJob {
  private readonly logger = new Logger('Domains');
  private readonly checks = new KeyedQueue(CONCURRENT_CHECKS);

  constructor(
    private readonly proofs: DomainProofsService,
    private readonly lock: JobLock,
  ) {}

  @Cron(hourlyAt(15))
  async run(): Promise<void> {
    await this.lock.runExclusively('domain-proofs', async () => {
      const domains = await this.proofs.due(DOMAINS_PER_RUN);
      await Promise.all(domains.map((domain) => this.checks.run('domains', () => this.check(domain))));
    });
  }

  private async check(domain: AllowlistedDomain): Promise<void> {
    try {
      await this.proofs.checkAgain(domain);
    } catch (error) {
      this.logger.error('The proof of a domain could not be checked', error);
    }
  }
}
