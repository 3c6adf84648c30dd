import { SERVICE_UNAVAILABLE } from '../errors/index.js';

/** Per key. A client that has this many requests waiting gains nothing from further ones. */
const MAX_WAITING = 1_000;
/** Seconds. */
const RETRY_AFTER = 1;

interface Lane {
  running: number;
  readonly waiting: (() => void)[];
}

/**
 * Limits how much work of the same key runs at a time in this process; further work waits, in order. Use it around work that
 * waits for a lock in the database. Without it, each request that waits for the lock would occupy a connection of the pool,
 * and a few hundred concurrent requests for one row would make all others wait.
 */
export class KeyedQueue {
  private readonly lanes = new Map<string, Lane>();

  /** @param max how much work of a key runs at the same time */
  constructor(private readonly max: number) {}

  /** @throws ApiError SERVICE_UNAVAILABLE if too much work of the key is waiting */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const lane = this.lanes.get(key) ?? { running: 0, waiting: [] };
    this.lanes.set(key, lane);
    if (lane.waiting.length >= MAX_WAITING)
      throw SERVICE_UNAVAILABLE.error(undefined, { retryAfter: RETRY_AFTER });
    if (lane.running < this.max) lane.running += 1;
    // Work that finishes passes its slot to the next waiting work, so `running` does not change.
    else await new Promise<void>((resolve) => lane.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = lane.waiting.shift();
      if (next) next();
      else lane.running -= 1;
      if (lane.running === 0) this.lanes.delete(key);
    }
  }
}
