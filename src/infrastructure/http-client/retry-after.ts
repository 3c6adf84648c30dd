import { HOUR, SECOND } from '../time/index.js';

/** Seconds: no receiver puts a delivery off for longer. */
export const MAX_RETRY_AFTER = HOUR / SECOND;

/** The three spellings of a date that RFC 9110, section 5.6.7, asks recipients to accept. */
const FIXED = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const RFC_850 = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * Seconds until the receiver wants to be asked again, from `Retry-After` (RFC 9110, section 10.2.3):
 * rounded up, between 0 and an hour; `null` where it says nothing that can be read.
 */
export function retryAfterSeconds(header: string | undefined, nowMilliseconds: number): number | null {
  const text = header?.trim() ?? '';
  const seconds = /^\d+$/.test(text) ? Number(text) : secondsUntil(text, nowMilliseconds);
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER);
}

function secondsUntil(date: string, nowMilliseconds: number): number {
  const isGmt = FIXED.test(date) || RFC_850.test(date);
  if (!isGmt && !ASCTIME.test(date)) return Number.NaN;
  return Math.ceil((Date.parse(isGmt ? date : `${date} GMT`) - nowMilliseconds) / SECOND);
}
