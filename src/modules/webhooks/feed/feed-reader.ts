import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND } from '../../../infrastructure/time/index.js';
import type { Watcher } from '../stream/event-watch.js';

/** Milliseconds between two looks for events of which this process was not notified. */
const LOOK_INTERVAL = 5 * SECOND;

/** A request that waits for the next event of its client. It holds nothing but its timer. */
export class FeedReader implements Watcher {
  private readonly deadline: number;
  private wakeUp = new AbortController();
  private lookedAt = performance.now();
  private isEnded = false;

  constructor(
    readonly clientId: string,
    milliseconds: number,
  ) {
    this.deadline = performance.now() + milliseconds;
  }

  get isOver(): boolean {
    return this.isEnded || performance.now() >= this.deadline;
  }

  wake(isPoll: boolean): void {
    if (!isPoll || performance.now() - this.lookedAt >= LOOK_INTERVAL) this.wakeUp.abort();
  }

  end(): void {
    this.isEnded = true;
    this.wakeUp.abort();
  }

  /** Looks until something was found or the time is over. @returns what was found last */
  async until<Found>(look: () => Promise<Found>, isEnough: (found: Found) => boolean): Promise<Found> {
    for (;;) {
      // This is set before the look, so that no event during the look is missed.
      this.wakeUp = new AbortController();
      this.lookedAt = performance.now();
      const found = await look();
      if (isEnough(found) || this.isOver) return found;
      const { signal } = this.wakeUp;
      await sleep(this.deadline - performance.now(), undefined, { signal }).catch(() => undefined);
      if (this.isOver) return found;
    }
  }
}
