export { Clock } from './clock.js';
export { periodOf, type Period } from './period.js';
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
