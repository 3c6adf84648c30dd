import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'express';
import { SECOND } from '../../../infrastructure/time/index.js';
import type { StreamedEvent } from './webhook-stream.repository.js';

const TIMING = {
  /** Milliseconds between two messages. Proxies close connections that are idle for a minute, and some sooner. */
  keepAliveInterval: 15 * SECOND,
  /** Milliseconds that the client has to read what fills the buffers. */
  stalledAfter: 10 * SECOND,
};

export interface ListenerSource {
  /** Returns the last position that can be read now. */
  horizon(): number;
  /** Returns some events after a position up to another one, oldest first; none if there are no more. */
  between(after: number, last: number): Promise<readonly StreamedEvent[]>;
  messageOf(event: StreamedEvent): Promise<string>;
  isAuthenticated(): Promise<boolean>;
}

/**
 * Writes the events of a client to a response, no faster than the client reads: unread events stay in the database. This is
 * why `@Sse()` of Nest is not used, which has no backpressure and no comments.
 */
export class Listener {
  private readonly ended = new AbortController();
  private wakeUp = new AbortController();
  private writtenAt = performance.now();
  private checkedAt = performance.now();

  constructor(
    readonly clientId: string,
    private position: number,
    private readonly response: Response,
    private readonly source: ListenerSource,
    private readonly timing = TIMING,
  ) {
    response.once('close', () => this.end());
    if (response.destroyed) this.end();
  }

  /** Says that there may be new events. */
  wake(): void {
    this.wakeUp.abort();
  }

  end(): void {
    this.ended.abort();
    this.wake();
  }

  /** Resolves when the stream has ended. */
  async run(): Promise<void> {
    try {
      await this.write(`event: ready\nid: start-${this.position}\nretry: ${SECOND}\ndata: {}\n\n`);
      while (!this.ended.signal.aborted) {
        // Before the query, so that no event during the query is missed.
        this.wakeUp = new AbortController();
        await this.writeNewEvents();
        await this.keepAlive();
      }
    } finally {
      this.end();
      this.response.end();
    }
  }

  private async writeNewEvents(): Promise<void> {
    const last = this.source.horizon();
    while (this.position < last) {
      const events = await this.source.between(this.position, last);
      for (const event of events) {
        const message = await this.source.messageOf(event);
        if (!(await this.write(message))) return;
        this.position = event.position;
      }
      if (events.length === 0) this.position = last;
    }
  }

  /** Waits until it is woken, or until the client needs a sign of life or its credentials have to be checked. */
  private async keepAlive(): Promise<void> {
    const { keepAliveInterval } = this.timing;
    const { signal } = this.wakeUp;
    const due = Math.min(this.writtenAt, this.checkedAt) + keepAliveInterval - performance.now();
    await sleep(Math.max(0, due), undefined, { signal }).catch(() => undefined);
    if (this.ended.signal.aborted) return;
    const now = performance.now();
    if (now - this.checkedAt >= keepAliveInterval) {
      this.checkedAt = now;
      if (!(await this.source.isAuthenticated())) this.end();
    }
    if (now - this.writtenAt >= keepAliveInterval) await this.write(': keep-alive\n\n');
  }

  /** Waits until the client has read enough. @returns whether the stream is still open */
  private async write(text: string): Promise<boolean> {
    const { signal } = this.ended;
    if (signal.aborted) return false;
    this.writtenAt = performance.now();
    if (this.response.write(text)) return true;
    const timeout = AbortSignal.timeout(this.timing.stalledAfter);
    await once(this.response, 'drain', { signal: AbortSignal.any([signal, timeout]) }).catch(() => {
      // A response that has ended would still wait for the client.
      if (timeout.aborted) this.response.destroy();
      this.end();
    });
    return !signal.aborted;
  }
}
