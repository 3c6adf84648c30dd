/** Durations in milliseconds. */
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/**
 * Returns the cron expression of a job that runs once an hour. Each job has a minute of its own, so that the jobs do not
 * compete with one another and with requests for the connections of the pool.
 */
export function hourlyAt(minute: number): string {
  return `0 ${minute} * * * *`;
}
