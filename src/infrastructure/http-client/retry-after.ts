import { HOUR, SECOND } from '../time/index.js';

/** Seconds. Larger values are cut to this limit. The retry schedule applies a lower limit of its own. */
export const MAX_PARSED_RETRY_AFTER = HOUR / SECOND;

/** The three date formats that recipients must accept (RFC 9110, section 5.6.7); the first also as in email, with any offset. */
const FIXED = /^[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} (?:GMT|UTC|[+-]\d{4})$/i;
const RFC_850 = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * Returns the seconds of a `Retry-After` header (RFC 9110, section 10.2.3), rounded up, between 0 and an hour,
 * or null if the header is missing or invalid.
 */
export function retryAfterSeconds(header: string | undefined, nowMilliseconds: number): number | null {
  const text = header?.trim() ?? '';
  // Fractions are not allowed, but sent.
  const seconds = /^\d+(?:\.\d+)?$/.test(text)
    ? Math.ceil(Number(text))
    : secondsUntil(text, nowMilliseconds);
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), MAX_PARSED_RETRY_AFTER);
}

function secondsUntil(date: string, nowMilliseconds: number): number {
  const isGmt = FIXED.test(date) || RFC_850.test(date);
  if (!isGmt && !ASCTIME.test(date)) return Number.NaN;
  return Math.ceil((Date.parse(isGmt ? date : `${date} GMT`) - nowMilliseconds) / SECOND);
}
