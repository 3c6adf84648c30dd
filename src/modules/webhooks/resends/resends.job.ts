import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { RecurringJob, Transactional } from '../../../infrastructure/database/index.js';
import { Clock, MINUTE, SECOND } from '../../../infrastructure/time/index.js';
import { RequestLogRepository } from '../../request-logs/index.js';
import { DeliveryQueueRepository } from '../queue/delivery-queue.repository.js';
import { ResendsRepository, type ClaimedResend } from './resends.repository.js';

const EVENTS_PER_PAGE = 1_000;
/** Milliseconds for which an attempt may wait to be settled while the database is not available, and then be dated back. */
const MAX_UNSETTLED = 10 * MINUTE;
/** The UUID before all others. */
const NIL = '00000000-0000-0000-0000-000000000000';

/** The next events of a resend, and those that the endpoint had received when the log was read. */
interface Page {
  readonly page: readonly string[];
  readonly handled: number;
  readonly received: readonly string[];
  readonly readAt: Date;
}

/**
 * Runs resends, one at a time in each process. If no events were selected, first reads which events the endpoint missed while it was
 * disabled, and its log. Memory grows with the number of events, about 100 bytes for each.
 *
 * Events are queued in portions, so that the lane of the endpoint is never locked for long. The lanes of other endpoints are not
 * affected.
 */
@Injectable()
export class ResendsJob extends RecurringJob {
  constructor(
    private readonly repository: ResendsRepository,
    private readonly requestLog: RequestLogRepository,
    private readonly queue: DeliveryQueueRepository,
    private readonly clock: Clock,
  ) {
    super('Webhooks', 'Sending webhooks again failed');
  }

  @Interval(SECOND)
  run(): Promise<void> {
    return this.start(() => this.runAll());
  }

  private async runAll(): Promise<void> {
    for (;;) {
      const resend = this.stopped.aborted ? undefined : await this.repository.claim();
      if (!resend) return;
      const eventIds = resend.eventIds ?? (await this.findMissed(resend));
      let handled: number | undefined = resend.handled;
      while (handled !== undefined && !this.stopped.aborted)
        handled = await this.sendPage(resend, eventIds, handled);
      if (!this.stopped.aborted) await this.repository.finish(resend.id, this.clock.now());
    }
  }

  /** Queues the next events that the endpoint has not received. @returns how many are handled then, or undefined at the end */
  private async sendPage(
    resend: ClaimedResend,
    eventIds: readonly string[],
    handled: number,
  ): Promise<number | undefined> {
    const page = eventIds.slice(handled, handled + EVENTS_PER_PAGE);
    if (page.length === 0) return undefined;
    // Reading weeks of the log takes seconds, for which the lane cannot be locked.
    const readAt = new Date(Math.max(resend.since.getTime(), this.clock.now().getTime() - MAX_UNSETTLED));
    const received = await this.requestLog.receivedAmong(resend, page, resend.since);
    return this.queuePage(resend, { page, handled, received, readAt });
  }

  /**
   * Queues a page and counts it in the same transaction: a process that takes over continues after it. While the lane is locked, no
   * attempt is settled, so no event can be received in between.
   */
  @Transactional()
  private async queuePage(
    resend: ClaimedResend,
    { page, handled, received, readAt }: Page,
  ): Promise<number | undefined> {
    const { id, endpointId, batchId } = resend;
    if (!(await this.queue.lockLane(endpointId))) return undefined;
    const current = await this.repository.lockHandled(id);
    // Another process has taken over.
    if (current !== handled) return current;
    const all = new Set([...received, ...(await this.requestLog.receivedAmong(resend, page, readAt))]);
    const missing = page.filter((eventId) => !all.has(eventId));
    // What was not selected and waits for a retry is retried as planned.
    const sent = await this.queue.sendAgain(endpointId, missing, { sendsWaiting: batchId !== null });
    await this.repository.progress(id, { ...sent, handled: page.length, received: all.size });
    return handled + page.length;
  }

  /** Finds the events that the endpoint missed while it was disabled, and those whose last attempt has failed. */
  private async findMissed(resend: ClaimedResend): Promise<readonly string[]> {
    const { id, endpointId, since } = resend;
    const missed = new Set<string>();
    await this.readAll(
      id,
      { createdAt: since, id: NIL },
      (position) => this.repository.missedEvents(endpointId, position),
      (event) => missed.add(event.id),
    );
    await this.readAll(
      id,
      { createdAt: since, id: '0' },
      (position) => this.requestLog.attempts(resend, position),
      ({ eventId, hasFailed }) => (hasFailed ? missed.add(eventId) : missed.delete(eventId)),
    );
    return this.stopped.aborted ? [] : this.repository.select(id, [...missed]);
  }

  /** Calls `visit` for each row after a position, oldest first, until the process stops. */
  private async readAll<Position, Row extends Position>(
    resendId: string,
    first: Position,
    next: (position: Position) => Promise<readonly Row[]>,
    visit: (row: Row) => unknown,
  ): Promise<void> {
    let position: Position | undefined = first;
    while (position && !this.stopped.aborted) {
      const page: readonly Row[] = await next(position);
      for (const row of page) visit(row);
      position = page.at(-1);
      await this.repository.progress(resendId);
    }
  }
}
