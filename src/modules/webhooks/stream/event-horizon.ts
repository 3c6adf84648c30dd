import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { OverdueWork } from '../../../infrastructure/database/index.js';
import { SERVICE_UNAVAILABLE, type ApiError } from '../../../infrastructure/errors/index.js';
import { Clock, MINUTE, SECOND } from '../../../infrastructure/time/index.js';
import { WebhookStreamRepository } from './webhook-stream.repository.js';

/** Milliseconds. A transaction that publishes usually takes a few. */
const LOOK_AGAIN = 10;
const REACH_TIMEOUT = 5 * SECOND;
/** Milliseconds. A failover takes longer. */
const RECENT = SECOND;
/** Milliseconds for which the horizon waits for a transaction before the log says so. */
const STANDSTILL = MINUTE;
/** Seconds. */
export const RETRY_AFTER = 5;

/** The error for listeners that cannot be served now. */
export function streamUnavailable(): ApiError {
  return SERVICE_UNAVAILABLE.error(undefined, { retryAfter: RETRY_AFTER });
}

/** The next position of the horizon. */
interface NextPosition {
  readonly position: number;
  /** The transactions that have to end first. */
  readonly publishers: ReadonlySet<string>;
  /** Milliseconds of the monotonic clock. */
  readonly since: number;
  isReported: boolean;
}

/**
 * Knows how far the stream of events is complete. Events get their positions from a sequence when they are published, but their
 * transactions commit in any order: an event can become visible after later ones have been read. So listeners read only up to
 * the horizon, the last position of which it is certain that neither it nor an earlier one will appear later. Then the order of
 * positions is the order in which every listener gets the events, and the last event that it got says all that a new connection
 * needs to know.
 *
 * A position belongs to a transaction that holds its lock from before it gets the position until the event is visible. So
 * once all transactions that held the lock after a position was read have ended, the horizon is at this position. Unlike
 * the age of the oldest transaction, this does not depend on transactions that publish nothing, such as a long export.
 * For alternatives, see docs/decisions/0023-webhook-stream.md.
 */
@Injectable()
export class EventHorizon {
  private readonly logger = new Logger('WebhookStream');
  private position = 0;
  /** The last position of any event, when the database was last looked at. */
  private last = 0;
  private next: NextPosition | undefined;
  private reading: Promise<number> | undefined;
  private lookedAt = -Infinity;

  constructor(
    private readonly events: WebhookStreamRepository,
    private readonly clock: Clock,
    overdue: OverdueWork,
  ) {
    overdue.add('event_horizon', () => this.waitingSince());
  }

  get current(): number {
    return this.position;
  }

  /** Whether the database was looked at a moment ago: since then, it has hardly gone back to an earlier state. */
  get isRecent(): boolean {
    return performance.now() - this.lookedAt < RECENT;
  }

  /** Whether the horizon waits for the end of a transaction. */
  get isWaiting(): boolean {
    return this.next !== undefined;
  }

  /**
   * Waits until everything before this call is within the horizon.
   *
   * @returns the position of the horizon
   * @throws ApiError if a transaction that publishes does not end
   */
  async reach(): Promise<number> {
    if (await this.approach(REACH_TIMEOUT)) return this.position;
    throw streamUnavailable();
  }

  /**
   * Waits until everything before this call is within the horizon, which may not have moved for a long time.
   *
   * @param milliseconds how long at most
   * @returns whether it is
   */
  async approach(milliseconds: number): Promise<boolean> {
    const deadline = performance.now() + milliseconds;
    // A look that has begun before this call may have missed the last events.
    await this.reading?.catch(() => undefined);
    await this.advance();
    const target = this.last;
    while (this.position < target) {
      if (performance.now() >= deadline) return false;
      await sleep(LOOK_AGAIN);
      await this.advance();
    }
    return true;
  }

  /** Moves the horizon as far as possible. Concurrent calls share the work. */
  advance(): Promise<number> {
    this.reading ??= this.read().finally(() => (this.reading = undefined));
    return this.reading;
  }

  private async read(): Promise<number> {
    const { last, publishers } = await this.events.publishing();
    [this.last, this.lookedAt] = [last, performance.now()];
    if (last < this.position) {
      // After a crash, PostgreSQL assigns positions again that it had not yet written to disk.
      this.position = last;
      this.next = undefined;
    }
    const since = this.clock.monotonic();
    if (publishers.size === 0) this.next = { position: last, publishers, since, isReported: false };
    this.next ??= { position: last, publishers, since, isReported: false };
    const isComplete = [...this.next.publishers].every((transaction) => !publishers.has(transaction));
    if (isComplete) {
      this.position = this.next.position;
      this.next = undefined;
    } else if (!this.next.isReported && since - this.next.since > STANDSTILL) {
      this.next.isReported = true;
      await this.report(this.next);
    }
    return this.position;
  }

  /**
   * Returns since when the next position has waited; null if it does not wait. Looks at the database first, which nothing else in this
   * process may have done for long. A transaction that began before the first look counts from its beginning.
   */
  private async waitingSince(): Promise<Date | null> {
    await this.advance();
    if (!this.next) return null;
    const waited = this.clock.monotonic() - this.next.since;
    const publishers = await this.events.describe(this.next.publishers);
    const began = publishers.flatMap(({ since }) => (since ? [since.getTime()] : []));
    return new Date(Math.min(this.clock.milliseconds() - waited, ...began));
  }

  private async report({ publishers }: NextPosition): Promise<void> {
    const names = (await this.events.describe(publishers)).map(({ name }) => name);
    this.logger.warn(
      `The event feed and the streams of all clients wait for a transaction that has written webhook_event: ${names.join(', ')}`,
    );
  }
}
