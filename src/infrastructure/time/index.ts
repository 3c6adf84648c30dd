export { Clock } from './clock.js';
export { TimeModule } from './time.module.js';

/** Durations in milliseconds. */
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
/** By which the clocks of two processes may differ: what one has stored after the other can have an earlier time. */
export const CLOCK_TOLERANCE = 60 * SECOND;

/** Returns a time as pages and emails show it: 2026-01-31 08:15:30 UTC. */
export function timeInUtc(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/**
 * Returns the cron expression of a job that runs once an hour. Each job has a minute of its own, so that the jobs do not
 * compete with one another and with requests for the connections of the pool.
 */
export function hourlyAt(minute: number): string {
  return `0 ${minute} * * * *`;
}

/** A period that includes both ends. A missing end means no limit. */
export interface Period {
  readonly start?: Date | undefined;
  readonly end?: Date | undefined;
}

/**
 * Returns the period between two timestamps of a request. Entries are stored in milliseconds, so a more precise
 * start is rounded up and a more precise end down, and no entry outside the period is included.
 */
export function periodOf({ start, end }: { start?: string | undefined; end?: string | undefined }): Period {
  const roundedUp = /\.\d{3}0*[1-9]/.test(start ?? '') ? 1 : 0;
  return {
    start: start === undefined ? undefined : new Date(Date.parse(start) + roundedUp),
    end: end === undefined ? undefined : new Date(end),
  };
}
