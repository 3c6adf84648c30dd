import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { OperatorError } from '../../../infrastructure/errors/index.js';
import { DatabaseClock, OverdueWork, Transactional } from '../../../infrastructure/database/index.js';
import { Clock, DAY, MINUTE, SECOND, HOUR, type Period } from '../../../infrastructure/time/index.js';
import { RequestLogsConfiguration } from '../request-logs.configuration.js';
import { earlier, later, nextFullHour, SLICE, startOf } from './time-slices.js';
import { RequestLogRollupsRepository, type RollupProgress } from './request-log-rollups.repository.js';

/**
 * Age of a slice when it is rolled up. Entries are usually committed within a minute; a later one makes its slice be rolled
 * up again.
 */
const CLOSING_DELAY = 2 * MINUTE;
/** Limits the entries that one search for late entries reads, after the background work was down. */
const IDS_PER_SEARCH = 1_000_000;
/** Milliseconds that one call spends on older entries, so that new ones do not wait. */
const BACKFILL_TIME = 30 * SECOND;
/** Pause after an older hour, relative to the time that the hour took: it leaves the database to requests. */
const BACKFILL_PAUSE = 4;
const INCOMPLETE_LOG =
  'The rollups cannot be rebuilt while entries are moved between partitions. Retry the command in a few minutes.';

/**
 * Keeps the rollups equal to the log: a row per client, type of entry and five minutes. A slice of five minutes is always
 * replaced as a whole in one transaction, together with its hour and the progress, so an interrupted run leaves nothing to
 * repair.
 */
@Injectable()
export class RequestLogRollupsService {
  constructor(
    private readonly repository: RequestLogRollupsRepository,
    private readonly configuration: RequestLogsConfiguration,
    private readonly clock: Clock,
    private readonly databaseClock: DatabaseClock,
    overdue: OverdueWork,
  ) {
    overdue.add('rollups', async () => {
      const until = (await this.repository.progress())?.until;
      return until ? new Date(following(until).getTime() + CLOSING_DELAY) : null;
    });
  }

  /**
   * Rolls up the slices that have closed, and again those that got late entries. A database that was unavailable delays
   * entries by any time, so late entries are recognized by their IDs, which have no order but are assigned when the entries
   * are written.
   *
   * @param stopped ends the work early; the next call continues
   */
  async update(stopped?: AbortSignal): Promise<void> {
    const closed = startOf(SLICE, new Date(this.clock.milliseconds() - CLOSING_DELAY));
    const settledId = await this.repository.settledId();
    if (settledId !== undefined) {
      await this.repository.start(closed, settledId);
      await this.replaceLate(settledId, stopped);
    }
    while (!stopped?.aborted && (await this.rollUpNext(closed)));
    await this.repository.deleteBefore(this.oldestKept(await this.databaseClock.timeForDeletion()));
  }

  /**
   * Rolls up the entries from before the first update, the newest first. Returns after half a minute, if it is not finished
   * before.
   */
  async backfill(stopped?: AbortSignal): Promise<void> {
    const end = performance.now() + BACKFILL_TIME;
    while (!stopped?.aborted && performance.now() < end) {
      const began = performance.now();
      const oldest = this.oldestKept();
      const since = (await this.repository.progress())?.since;
      if (!since || since <= oldest || !(await this.replaceBefore(since, oldest))) return;
      await pause((performance.now() - began) * BACKFILL_PAUSE, undefined, { ref: false });
    }
  }

  /**
   * Rolls up the slices of a period again, the newest first. Slices that are not closed yet have no rollups. By default, the
   * period is as long as the log.
   *
   * @returns the period whose slices were rolled up
   * @throws OperatorError if the log lacks entries at the moment
   */
  async rebuild({ start, end = this.clock.now() }: Period): Promise<Required<Period>> {
    await this.update();
    const oldest = this.oldestKept();
    const first = start ? later(startOf(SLICE, start), oldest) : oldest;
    const afterEnd = following(startOf(SLICE, end));
    const last = earlier(afterEnd, (await this.repository.progress())?.until ?? afterEnd);
    for (let position = last; position > first;) {
      const next = await this.replaceBefore(position, first);
      if (!next) throw new OperatorError(INCOMPLETE_LOG);
      position = next;
    }
    return { start: first, end: later(first, last) };
  }

  private async replaceLate(settledId: number, stopped?: AbortSignal): Promise<void> {
    let seenId = (await this.repository.progress())?.seenId ?? settledId;
    while (seenId < settledId) {
      const upToId = Math.min(seenId + IDS_PER_SEARCH, settledId);
      const late = await this.lateSlices(upToId);
      if (!late) return;
      for (const slice of late) {
        if (stopped?.aborted || !(await this.replaceSlice(slice))) return;
      }
      await this.repository.setSeenId(upToId);
      seenId = upToId;
    }
  }

  @Transactional()
  private async lateSlices(upToId: number): Promise<Date[] | undefined> {
    const progress = await this.repository.lockProgress();
    return progress && this.repository.lateSlices(progress, upToId);
  }

  /** Rolls up a slice again. @returns false if the log lacks entries at the moment */
  @Transactional()
  private async replaceSlice(slice: Date): Promise<boolean> {
    const progress = await this.repository.lockProgress();
    if (!progress) return false;
    await this.replace(slice, following(slice), progress);
    return true;
  }

  /** Returns whether there was a slice to roll up. */
  @Transactional()
  private async rollUpNext(closed: Date): Promise<boolean> {
    const progress = await this.repository.lockProgress();
    if (!progress || progress.until >= closed) return false;
    const until = following(progress.until);
    await this.replace(progress.until, until, { ...progress, until });
    await this.repository.setUntil(until);
    return true;
  }

  /**
   * Rolls up the newest hour with entries before the position, also if that was done before.
   *
   * @returns the next position, or undefined if the log lacks entries at the moment
   */
  @Transactional()
  private async replaceBefore(position: Date, first: Date): Promise<Date | undefined> {
    const progress = await this.repository.lockProgress();
    if (!progress) return undefined;
    const start = later(await this.repository.newestHourBefore(position), first);
    const since = position < progress.since ? progress.since : earlier(start, progress.since);
    await this.replace(start, position, { ...progress, since });
    await this.repository.setSince(since);
    return start;
  }

  /** Replaces the slices from `start` to `end`, and the rollups of their hours that have all slices. */
  private async replace(start: Date, end: Date, { since, until }: RollupProgress): Promise<void> {
    await this.repository.replaceSlices(start, end);
    const firstHour = startOf(HOUR, start);
    const endOfHours = startOf(HOUR, earlier(nextFullHour(end), until));
    if (firstHour >= since && firstHour < endOfHours)
      await this.repository.replaceHours(firstHour, endOfHours);
  }

  /** The log of the days before this one is dropped. */
  private oldestKept(now = this.clock.milliseconds()): Date {
    const { retentionDays } = this.configuration;
    return startOf(DAY, new Date(now - retentionDays * DAY));
  }
}

function following(slice: Date): Date {
  return new Date(slice.getTime() + SLICE);
}
