import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { SERVICE_UNAVAILABLE, type ApiError } from '../../../infrastructure/errors/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { WebhookStreamRepository } from './webhook-stream.repository.js';

/** Milliseconds. A transaction that publishes usually takes a few. */
const LOOK_AGAIN = 10;
const REACH_TIMEOUT = 5 * SECOND;
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
  /** The next position of the horizon, and the transactions that have to end first. */
  private next: { readonly position: number; readonly publishers: ReadonlySet<string> } | undefined;
  private reading: Promise<number> | undefined;

  constructor(private readonly events: WebhookStreamRepository) {}

  get current(): number {
    return this.position;
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
    const deadline = performance.now() + REACH_TIMEOUT;
    // Without listeners, nothing has moved the horizon meanwhile: it must not go back to an old position first.
    this.next = undefined;
    do {
      const position = await this.advance();
      if (!this.isWaiting) return position;
      await sleep(LOOK_AGAIN);
    } while (performance.now() < deadline);
    throw streamUnavailable();
  }

  /** Moves the horizon as far as possible. Concurrent calls share the work. */
  advance(): Promise<number> {
    this.reading ??= this.read().finally(() => (this.reading = undefined));
    return this.reading;
  }

  private async read(): Promise<number> {
    const last = await this.events.lastPosition();
    // In a statement of its own, which must not begin before the other one has ended.
    const publishers = new Set(await this.events.publishers());
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
