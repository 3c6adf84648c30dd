import { MAX_LATENESS, type RequestLogPosition } from '../storage/request-log-entry.js';

/**
 * Remembers the last entries that were shown while following a log, so that reading the same period again finds late
 * entries but shows none twice. Entries more than 10 seconds older than the newest are forgotten, which limits memory.
 */
export class RecentEntries {
  private readonly times = new Map<number, number>();
  /** The time of the newest entry. This process's clock may differ from the clocks of the processes that write. */
  private newest = 0;

  /** @returns whether the entry is new */
  add({ id, createdAt }: RequestLogPosition): boolean {
    if (this.times.has(id)) return false;
    this.times.set(id, createdAt.getTime());
    this.newest = Math.max(this.newest, createdAt.getTime());
    return true;
  }

  /** Returns the time since which entries may be missing. An entry with a time in the future must not hide others. */
  unsettledSince(now: Date): Date {
    return new Date(Math.max(0, Math.min(this.newest, now.getTime()) - MAX_LATENESS));
  }

  forgetSettled(now: Date): void {
    const since = this.unsettledSince(now).getTime();
    for (const [id, time] of this.times) if (time < since) this.times.delete(id);
  }
}
