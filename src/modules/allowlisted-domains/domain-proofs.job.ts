import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { OutsideChecks, RecurringJob } from '../../infrastructure/database/index.js';
import { HOUR, hourlyAt } from '../../infrastructure/time/index.js';
import { DomainProofsService } from './domain-proofs.service.js';

const PROOFS = {
  table: 'allowlisted_domain',
  condition: 'proved_at IS NOT NULL',
  checkedAt: 'proof_checked_at',
  attemptedAt: 'proof_attempted_at',
  interval: 23 * HOUR,
};

/** Checks the proof of each domain once a day. */
@Injectable()
export class DomainProofsJob extends RecurringJob {
  constructor(
    private readonly proofs: DomainProofsService,
    private readonly checks: OutsideChecks,
  ) {
    super('Domains', 'The proofs of domains could not be checked');
  }

  @Cron(hourlyAt(15))
  run(): Promise<void> {
    const run = {
      check: (id: string) => this.proofs.checkAgain(id),
      report: (error: unknown) => this.report(error),
      stopped: this.stopped,
    };
    return this.startExclusively('domain-proofs', () => this.checks.run(PROOFS, run));
  }
}
