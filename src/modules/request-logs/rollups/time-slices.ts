import { HOUR, MINUTE } from '../../../infrastructure/time/index.js';

/** Milliseconds that a rollup covers. Slices start at multiples of it since the epoch, in UTC. */
export const SLICE = 5 * MINUTE;

/** Returns the start of the slice, hour or day in UTC that contains the time. @param length milliseconds */
export function startOf(length: number, time: Date): Date {
  return new Date(Math.floor(time.getTime() / length) * length);
}

export function nextFullHour(time: Date): Date {
  return new Date(Math.ceil(time.getTime() / HOUR) * HOUR);
}

export function earlier(left: Date, right: Date): Date {
  return left < right ? left : right;
}

export function later(left: Date, right: Date): Date {
  return left < right ? right : left;
}
