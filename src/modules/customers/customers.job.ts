import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { OverdueWork, RecurringJob, Transactional } from '../../infrastructure/database/index.js';
import { ErasedUsers } from '../../infrastructure/erasure/index.js';
import { Clock, MINUTE, SECOND } from '../../infrastructure/time/index.js';
import { RequestLogRepository, UserActivityRepository, type UserActivity } from '../request-logs/index.js';
import { CustomersRepository } from './customers.repository.js';

/**
 * Entries of the log that one transaction counts. Takes half a second if each is about another new user with a long identifier, whose
 * 254 parts the index contains. For 20,000 such users, the statement would exceed its time limit again and again.
 */
const ENTRIES_PER_BATCH = 500;

/**
 * Keeps the list of customers up to date, so that no request has to write it. Each entry of the request log is counted once, in the
 * transaction that stores how far the job has come.
 */
@Injectable()
export class CustomersJob extends RecurringJob {
  constructor(
    private readonly repository: CustomersRepository,
    private readonly log: RequestLogRepository,
    private readonly activities: UserActivityRepository,
    private readonly erased: ErasedUsers,
    private readonly clock: Clock,
    overdue: OverdueWork,
  ) {
    super('Customers', 'The list of customers could not be updated');
    overdue.add('customers', async () => {
      const updatedAt = await this.repository.updatedAt();
      return updatedAt && new Date(updatedAt.getTime() + MINUTE);
    });
  }

  @Interval(20 * SECOND)
  run(): Promise<void> {
    return this.startExclusively('customers', () => this.update());
  }

  /** Counts the entries that are new in the log. */
  async update(): Promise<void> {
    const settledId = await this.activities.settledId();
    if (settledId === undefined) return;
    // This is committed by itself, so that the work counts as overdue if the first batch fails.
    await this.repository.begin(this.clock.now());
    while (!this.stopped.aborted && (await this.countBatch(settledId)));
  }

  /** @returns whether entries are left */
  @Transactional()
  protected async countBatch(settledId: number): Promise<boolean> {
    // Entries that a rotation moves would be missed.
    if (!(await this.log.lockComplete())) return false;
    const now = this.clock.now();
    const counted = await this.repository.lockProgress();
    // Billions of entries may have been deleted before the first one that is kept.
    const seenId = counted || (await this.activities.idBeforeFirst(settledId, ENTRIES_PER_BATCH));
    const upToId = Math.min(seenId + ENTRIES_PER_BATCH, settledId);
    if (upToId <= seenId) return false;
    const found = await this.activities.between(seenId, upToId);
    // Entries that are not about a user any more have no place in the list.
    const known = await this.erased.pseudonymize<UserActivity | typeof ERASED>(found, () => ERASED);
    const activities = known.filter((each): each is UserActivity => each.externalUserId !== null);
    if (activities.length > 0) await this.repository.add(activities);
    await this.repository.setProgress(upToId, now);
    return upToId < settledId;
  }
}

const ERASED = { clientId: '', externalUserId: null, createdAt: new Date(0) } as const;
