import { HOUR, MINUTE } from '../../../infrastructure/time/index.js';

/** Milliseconds that a rollup covers. Slices start at multiples of it since the epoch, in UTC. */
export const SLICE = 5 * MINUTE;

/** Latencies below this have a bucket for each millisecond. */
export const EXACT_LATENCIES = 8;
/** Each bucket above them is wider by this factor, so that its middle is within 10 % of every latency in it. */
export const BUCKET_GROWTH = 1.2;

/** Returns the start of the slice, hour or day in UTC that contains the time. @param length milliseconds */
export function startOf(length: number, time: Date): Date {
  return new Date(Math.floor(time.getTime() / length) * length);
}

/** Returns the first full hour that is not before the time. */
export function nextFullHour(time: Date): Date {
  return new Date(Math.ceil(time.getTime() / HOUR) * HOUR);
}

export function earlier(left: Date, right: Date): Date {
  return left < right ? left : right;
}

export function later(left: Date, right: Date): Date {
  return left < right ? right : left;
}

/** Returns the latency in milliseconds that stands for all latencies in a bucket. */
export function latencyOfBucket(bucket: number): number {
  if (bucket < EXACT_LATENCIES) return bucket;
  return Math.round(EXACT_LATENCIES * BUCKET_GROWTH ** (bucket - EXACT_LATENCIES + 0.5));
}
