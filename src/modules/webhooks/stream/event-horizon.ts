import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { SERVICE_UNAVAILABLE, type ApiError } from '../../../infrastructure/errors/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { WebhookStreamRepository } from './webhook-stream.repository.js';

/** Milliseconds. A transaction that publishes usually takes a few. */
const LOOK_AGAIN = 10;
const REACH_TIMEOUT = 5 * SECOND;
/** Milliseconds. A failover takes longer. */
const RECENT = SECOND;
/** Seconds. */
export const RETRY_AFTER = 5;

/** The error for listeners that cannot be served now. */
export function streamUnavailable(): ApiError {
  return SERVICE_UNAVAILABLE.error(undefined, { retryAfter: RETRY_AFTER });
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
  private position = 0;
  /** The last position of any event, when the database was last looked at. */
  private last = 0;
  /** The next position of the horizon, and the transactions that have to end first. */
  private next: { readonly position: number; readonly publishers: ReadonlySet<string> } | undefined;
  private reading: Promise<number> | undefined;
  private lookedAt = -Infinity;

  constructor(private readonly events: WebhookStreamRepository) {}

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
    if (publishers.size === 0) this.next = { position: last, publishers };
    this.next ??= { position: last, publishers };
    const isComplete = [...this.next.publishers].every((transaction) => !publishers.has(transaction));
    if (isComplete) {
      this.position = this.next.position;
      this.next = undefined;
    }
    return this.position;
  }
}
