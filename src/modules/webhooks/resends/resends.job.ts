import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { RecurringJob, Transactional } from '../../../infrastructure/database/index.js';
import { Clock, MINUTE, SECOND } from '../../../infrastructure/time/index.js';
import { RequestLogRepository } from '../../request-logs/index.js';
import { DeliveryQueueRepository } from '../queue/delivery-queue.repository.js';
import { ResendsRepository, type ClaimedResend, type ResendPlace } from './resends.repository.js';
import { EventHorizon } from '../stream/event-horizon.js';
import type { ReadPosition } from './resend.entity.js';

/** Milliseconds for which an attempt may wait to be settled while the database is not available, and then be dated back. */
const MAX_UNSETTLED = 10 * MINUTE;
/** The UUID before all others. */
const NIL = '00000000-0000-0000-0000-000000000000';

type RunningResend = Omit<ClaimedResend, 'eventIds'>;

/** The next events of a resend, and the places before and after them. */
interface Page {
  readonly eventIds: readonly string[];
  readonly from: ResendPlace;
  readonly to: ResendPlace;
}

/**
 * Runs resends page by page, in rounds: one page of each client, however many clients there are. After the page, any process can
 * continue. If no events were selected, reads which events the endpoint missed while it was disabled, and then its log.
 *
 * Events are queued in portions, so that the lane of the endpoint is never locked for long. Attempts of other endpoints are settled
 * meanwhile.
 */
@Injectable()
export class ResendsJob extends RecurringJob {
  constructor(
    private readonly repository: ResendsRepository,
    private readonly requestLog: RequestLogRepository,
    private readonly queue: DeliveryQueueRepository,
    private readonly horizon: EventHorizon,
    private readonly clock: Clock,
  ) {
    super('Webhooks', 'Sending webhooks again failed');
  }

  @Interval(SECOND)
  run(): Promise<void> {
    return this.start(() => this.runAll());
  }

  private async runAll(): Promise<void> {
    const served = new Set<string>();
    do {
      served.clear();
      for (let next; !this.stopped.aborted && (next = await this.repository.claim([...served]));) {
        served.add(next.clientId);
        // A resend that fails must not keep the others waiting. It is repeated after its lease.
        await this.runPage(next).catch((error: unknown) => this.report(error));
      }
    } while (served.size > 0 && !this.stopped.aborted);
  }

  private async runPage(resend: ClaimedResend): Promise<void> {
    const page = await this.pageOf(resend);
    if (!page || !(await this.sendPage(resend, page)))
      await this.repository.finish(resend.id, this.clock.now());
  }

  /** Returns undefined at the end. */
  private async pageOf({ eventIds, ...resend }: ClaimedResend): Promise<Page | undefined> {
    const { handled, position } = resend;
    const from = { handled, position };
    if (!eventIds)
      return position?.of === 'attempts'
        ? this.failed(resend, from, position)
        : this.unpublished(resend, from);
    const to = { handled: handled + eventIds.length, position: null };
    return eventIds.length === 0 ? undefined : { eventIds, from, to };
  }

  /** Returns events that were not published to the endpoint, because it was disabled. */
  private async unpublished(resend: RunningResend, from: ResendPlace): Promise<Page> {
    const since = resend.since.toISOString();
    // A transaction that published an event while the endpoint was disabled may still be open, and the event not visible.
    if (!from.position) await this.horizon.reach();
    // Attempts of the resend itself come later. They are not read.
    const until =
      from.position?.until ?? (await this.requestLog.lastAttemptAt(resend))?.toISOString() ?? since;
    const { createdAt, id } = from.position ?? { createdAt: since, id: NIL };
    const start = { createdAt: new Date(createdAt), id };
    const { eventIds, last } = await this.repository.missedEvents(resend.endpointId, start);
    const position: ReadPosition = last
      ? { of: 'events', createdAt: last.createdAt.toISOString(), id: last.id, until }
      : { of: 'attempts', createdAt: since, id: '0', until };
    return { eventIds, from, to: { ...from, position } };
  }

  /** Returns events of which an attempt has failed. */
  private async failed(
    resend: RunningResend,
    from: ResendPlace,
    { createdAt, id, until }: ReadPosition,
  ): Promise<Page | undefined> {
    const start = { createdAt: new Date(createdAt), id };
    const attempts = await this.requestLog.attempts(resend, start, new Date(until));
    const last = attempts.at(-1);
    if (!last) return undefined;
    const eventIds = new Set(attempts.filter(({ hasFailed }) => hasFailed).map(({ eventId }) => eventId));
    const position = { of: 'attempts' as const, createdAt: last.createdAt.toISOString(), id: last.id, until };
    return { eventIds: [...eventIds], from, to: { ...from, position } };
  }

  /** Queues the events of a page that the endpoint has not received. @returns false if the endpoint was deleted */
  private async sendPage(resend: RunningResend, page: Page): Promise<boolean> {
    // Reading weeks of the log takes seconds, for which the lane cannot be locked.
    const readAt = new Date(Math.max(resend.since.getTime(), this.clock.now().getTime() - MAX_UNSETTLED));
    const received = await this.requestLog.receivedAmong(resend, page.eventIds, resend.since);
    return this.queuePage(resend, page, { received, readAt });
  }

  /**
   * Queues a page and stores the next place in the same transaction: the process that continues begins there. While the lane is
   * locked, no attempt is settled, so no event can be received in between.
   */
  @Transactional()
  private async queuePage(
    resend: RunningResend,
    { eventIds, from, to }: Page,
    { received, readAt }: { readonly received: readonly string[]; readonly readAt: Date },
  ): Promise<boolean> {
    const { id, endpointId, batchId } = resend;
    if (eventIds.length > 0 && !(await this.queue.lockLane(endpointId))) return false;
    const current = await this.repository.lockPlace(id);
    // Another process has taken over.
    if (current?.handled !== from.handled || !isDeepStrictEqual(current.position, from.position)) return true;
    const all = new Set([...received, ...(await this.requestLog.receivedAmong(resend, eventIds, readAt))]);
    const missing = eventIds.filter((eventId) => !all.has(eventId));
    // Deliveries that were not selected and wait for a retry are retried as planned.
    const sent =
      missing.length === 0
        ? { queued: 0, sending: 0 }
        : await this.queue.sendAgain(endpointId, missing, { sendsWaiting: batchId !== null });
    await this.repository.progress(id, to, { ...sent, received: all.size });
    return true;
  }
}
