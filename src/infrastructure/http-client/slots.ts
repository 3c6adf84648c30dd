import { rejectOnAbort } from './time-limit.js';

interface Waiter {
  readonly limit: number;
  readonly admit: () => void;
}

interface Lane {
  taken: number;
  readonly waiting: Waiter[];
}

/** How many may be at one thing at once: whoever comes later waits for their turn, first come first served. */
export class Slots {
  /** Holds only what somebody is at, so that it does not grow with the number of receivers. */
  private readonly lanes = new Map<string, Lane>();

  /** @returns how to give the slot back; must be called once */
  async take(name: string, limit: number, signal: AbortSignal): Promise<() => void> {
    const lane = this.lanes.get(name) ?? { taken: 0, waiting: [] };
    this.lanes.set(name, lane);
    if (lane.taken < limit && lane.waiting.length === 0) lane.taken += 1;
    else await this.wait(name, lane, limit, signal);
    return () => this.give(name, lane);
  }

  private async wait(name: string, lane: Lane, limit: number, signal: AbortSignal): Promise<void> {
    let admit = (): void => undefined;
    const admitted = new Promise<void>((resolve) => {
      admit = resolve;
    });
    const waiter = { limit, admit };
    lane.waiting.push(waiter);
    try {
      await rejectOnAbort(admitted, signal);
    } catch (error) {
      const place = lane.waiting.indexOf(waiter);
      // Admitted at the very moment in which it gave up.
      if (place < 0) this.give(name, lane);
      else lane.waiting.splice(place, 1);
      throw error;
    }
  }

  private give(name: string, lane: Lane): void {
    lane.taken -= 1;
    while (lane.waiting[0] !== undefined && lane.taken < lane.waiting[0].limit) {
      lane.taken += 1;
      lane.waiting.shift()?.admit();
    }
    if (lane.taken === 0) this.lanes.delete(name);
  }
}
