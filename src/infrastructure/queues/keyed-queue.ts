import { SERVICE_UNAVAILABLE } from '../errors/index.js';

/** Per key. A client that has this many requests waiting gains nothing from further ones. */
const MAX_WAITING = 1_000;
/** Seconds. */
const RETRY_AFTER = 1;

/** The work of one key. */
interface Turns {
  running: number;
  /** Each function starts the next work. */
  readonly waiting: (() => void)[];
}

interface WaitingLimits {
  /** Per key. The default is 1,000. */
  readonly maxWaiting?: number;
  /** The error of work that finds so much work waiting. The default is SERVICE_UNAVAILABLE. */
  readonly refusal?: () => Error;
  /** How many milliseconds work waits at most, and the error of work that waited so long. The default is no limit. */
  readonly timeout?: { readonly milliseconds: number; readonly error: () => Error };
}

/**
 * Limits how much work of the same key runs at a time in this process; further work waits, in order. Use it around work that
 * occupies something that all requests share: a connection of the pool while it waits for a lock, the memory of a large body, the
 * CPU. Without it, a few hundred concurrent requests of one client, or for one row, would make all others wait.
 */
export class KeyedQueue {
  private readonly turns = new Map<string, Turns>();

  /** @param max how much work of a key runs at the same time */
  constructor(
    private readonly max: number,
    private readonly limits: WaitingLimits = {},
  ) {}

  /**
   * @param isContinuation whether the work is a part of a response that has begun: it waits, however long and however many wait
   * @throws ApiError SERVICE_UNAVAILABLE if too much work of the key is waiting, or the errors of the limits
   */
  async run<Result>(key: string, work: () => Promise<Result>, isContinuation = false): Promise<Result> {
    const turns = this.turns.get(key) ?? { running: 0, waiting: [] };
    this.turns.set(key, turns);
    const {
      maxWaiting = MAX_WAITING,
      refusal = () => SERVICE_UNAVAILABLE.error(undefined, { retryAfter: RETRY_AFTER }),
    } = this.limits;
    if (turns.running >= this.max && turns.waiting.length >= maxWaiting && !isContinuation) throw refusal();
    if (turns.running < this.max) turns.running += 1;
    // Work that finishes passes its slot to the next waiting work, so `running` does not change.
    else await this.wait(turns, isContinuation);
    try {
      return await work();
    } finally {
      const next = turns.waiting.shift();
      if (next) next();
      else turns.running -= 1;
      if (turns.running === 0) this.turns.delete(key);
    }
  }

  private wait({ waiting }: Turns, isContinuation: boolean): Promise<void> {
    const timeout = isContinuation ? undefined : this.limits.timeout;
    return new Promise((resolve, reject) => {
      const timer =
        timeout &&
        setTimeout(() => {
          waiting.splice(waiting.indexOf(start), 1);
          reject(timeout.error());
        }, timeout.milliseconds);
      const start = (): void => {
        clearTimeout(timer);
        resolve();
      };
      waiting.push(start);
    });
  }
}
