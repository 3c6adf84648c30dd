import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { RecurringJob, Transactional } from '../../../infrastructure/database/index.js';
import { Clock, MINUTE, SECOND } from '../../../infrastructure/time/index.js';
import { RequestLogRepository, type AttemptPosition } from '../../request-logs/index.js';
import type { StoredEvent } from '../events/webhook-events.repository.js';
import { DeliveryQueueRepository } from '../queue/delivery-queue.repository.js';
import { RecoveriesRepository, type ClaimedRecovery } from './recoveries.repository.js';

const EVENTS_PER_PAGE = 1_000;
/** The UUID before all others. */
const NIL = '00000000-0000-0000-0000-000000000000';
/** Milliseconds. Entries can be committed in another order than that of their times. */
const COMMIT_DELAY = MINUTE;

/**
 * Runs recoveries, one at a time in each process: reads the events that the endpoint missed while it was disabled, and its
 * log, then queues the events whose last attempt failed, and those without one. Memory grows with the number of these events, about 100 bytes for each.
 * A recovery of selected events queues those whose last attempt failed, and sends those at once that wait for a retry.
 *
 * Events are queued in portions, so that the lane of the endpoint is never locked for long. The lanes of other endpoints are not
 * affected.
 */
@Injectable()
export class RecoveriesJob extends RecurringJob {
  constructor(
    private readonly repository: RecoveriesRepository,
    private readonly requestLog: RequestLogRepository,
    private readonly queue: DeliveryQueueRepository,
    private readonly clock: Clock,
  ) {
    super('Webhooks', 'A recovery of webhooks failed');
  }

  @Interval(SECOND)
  run(): Promise<void> {
    return this.start(() => this.runAll());
  }

  private async runAll(): Promise<void> {
    for (;;) {
      const recovery = this.stopped.aborted ? undefined : await this.repository.claim();
      if (!recovery) return;
      await this.recover(recovery);
    }
  }

  private async recover(recovery: ClaimedRecovery): Promise<void> {
    const { id, eventIds } = recovery;
    if (eventIds) await this.resend(recovery, eventIds);
    else await this.recoverAll(recovery);
    if (!this.stopped.aborted) await this.repository.finish(id, this.clock.now());
  }

  private async resend(recovery: ClaimedRecovery, eventIds: readonly string[]): Promise<void> {
    let isHandled = true;
    while (isHandled && !this.stopped.aborted) isHandled = await this.resendPage(recovery, eventIds);
  }

  /**
   * Queues the next events, and counts them in the same transaction: a process that takes over continues after them. As in
   * `queuePage`, no event can be received in between.
   *
   * @returns whether there was an event left
   */
  @Transactional()
  private async resendPage(recovery: ClaimedRecovery, eventIds: readonly string[]): Promise<boolean> {
    const { id, endpointId, since } = recovery;
    if (!(await this.queue.lockLane(endpointId))) return false;
    const start = (await this.repository.lockHandled(id)) ?? eventIds.length;
    const page = eventIds.slice(start, start + EVENTS_PER_PAGE);
    if (page.length === 0) return false;
    const failed = await this.requestLog.failedAmong(recovery, page, since);
    const pending = await this.queue.countWaiting(endpointId, failed);
    const madeDue = await this.queue.makeDue(endpointId, failed);
    const queued = madeDue + (await this.queue.addMissing(endpointId, failed));
    const received = page.length - failed.length;
    await this.repository.progress(id, {
      queued,
      handled: page.length,
      received,
      sending: pending - madeDue,
    });
    return true;
  }

  private async recoverAll(recovery: ClaimedRecovery): Promise<void> {
    const { since, requestedAt } = recovery;
    const failed = new Set<string>();
    await this.readMissed(recovery, (eventId) => failed.add(eventId));
    const readUntil = await this.read(recovery, since, (eventId, hasFailed) => {
      if (hasFailed) failed.add(eventId);
      else failed.delete(eventId);
    });
    const overlap = new Date(Math.min(readUntil.getTime(), requestedAt.getTime()) - COMMIT_DELAY);
    const eventIds = [...failed];
    for (let start = 0; start < eventIds.length; start += EVENTS_PER_PAGE) {
      if (this.stopped.aborted) return;
      await this.queuePage(recovery, eventIds.slice(start, start + EVENTS_PER_PAGE), overlap);
    }
  }

  /**
   * While the lane is locked, no attempt is settled. Therefore an event that failed according to the log and is not in
   * the queue cannot be received in between.
   */
  @Transactional()
  private async queuePage(recovery: ClaimedRecovery, eventIds: string[], readAgainFrom: Date): Promise<void> {
    const { id, endpointId } = recovery;
    if (!(await this.queue.lockLane(endpointId))) return;
    const missing = new Set(eventIds);
    await this.read(recovery, readAgainFrom, (eventId, hasFailed) => {
      if (!hasFailed) missing.delete(eventId);
    });
    const queued = await this.queue.addMissing(endpointId, [...missing]);
    await this.repository.progress(id, { queued });
  }

  /** Calls `visit` for each event that the endpoint missed since the time while it was disabled. */
  private async readMissed(
    { id: recoveryId, endpointId, since }: ClaimedRecovery,
    visit: (eventId: string) => void,
  ): Promise<void> {
    let page: StoredEvent[];
    let position: StoredEvent = { createdAt: since, id: NIL };
    do {
      page = await this.repository.missedEvents(endpointId, position);
      for (const { id } of page) visit(id);
      position = page.at(-1) ?? position;
      await this.repository.progress(recoveryId);
    } while (page.length > 0 && !this.stopped.aborted);
  }

  /** Calls `visit` for each attempt since the time, oldest first. @returns the time of the last one */
  private async read(
    recovery: ClaimedRecovery,
    since: Date,
    visit: (eventId: string, hasFailed: boolean) => void,
  ): Promise<Date> {
    let position: AttemptPosition = { createdAt: since, id: '0' };
    for (;;) {
      const page = await this.requestLog.attempts(recovery, position);
      for (const { eventId, hasFailed } of page) visit(eventId, hasFailed);
      const last = page.at(-1);
      if (!last || this.stopped.aborted) return position.createdAt;
      position = last;
      await this.repository.progress(recovery.id);
    }
  }
}
