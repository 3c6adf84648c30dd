import { SECOND } from '../../../infrastructure/time/index.js';
import type { RequestLogPosition } from '../storage/request-log-store.js';

/**
 * Entries are committed slightly out of the order of their time: by several processes, in groups, and behind a
 * slow store a second later again.
 */
const LATENESS = 10 * SECOND;

/**
 * What somebody who follows a log has seen of its last moments, so that looking there again shows late entries
 * and none twice. Older ones are forgotten: memory is as much as the log grows by in those moments.
 */
export class RecentEntries {
  private readonly times = new Map<number, number>();
  /** Not the clock, which may differ from that of the processes that write. */
  private newest = 0;

  /** @returns whether it was not here yet */
  add({ id, createdAt }: RequestLogPosition): boolean {
    if (this.times.has(id)) return false;
    this.times.set(id, createdAt.getTime());
    this.newest = Math.max(this.newest, createdAt.getTime());
    return true;
  }

  /** From when on there may be entries that are not here yet. One that is ahead of the time must not hide others. */
  unsettledSince(now: Date): Date {
    return new Date(Math.max(0, Math.min(this.newest, now.getTime()) - LATENESS));
  }

  forgetSettled(now: Date): void {
    const since = this.unsettledSince(now).getTime();
    for (const [id, time] of this.times) if (time < since) this.times.delete(id);
  }
}
