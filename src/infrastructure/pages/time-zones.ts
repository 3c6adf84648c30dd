import type { Request } from 'express';
import { DateTime, IANAZone } from 'luxon';
import { cookieOf } from '../http/index.js';

export const UTC = 'UTC';

/** Remembers the time zone that the user chose, by its IANA name. Without it, pages show UTC. */
export const TIME_ZONE_COOKIE = 'time_zone';
/** The parameter of a page's address, and the field of a form, with the time zone in which its local times are read. */
export const ZONE_PARAMETER = 'zone';

const MAX_NAME_LENGTH = 64;

/** Returns whether the text is UTC or the name of another IANA time zone, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  return name === UTC || (name.length <= MAX_NAME_LENGTH && name.includes('/') && IANAZone.isValidZone(name));
}

/** Returns the time zone in which pages show times to the user. */
export function timeZoneOf(request: Request): string {
  const chosen = cookieOf(request, TIME_ZONE_COOKIE);
  return chosen !== undefined && isTimeZone(chosen) ? chosen : UTC;
}

/**
 * Returns the time of a clock in the time zone. A time that was skipped when clocks went forward means the time an hour later.
 *
 * @param local as in a field of the type `datetime-local`
 * @returns undefined if the text is not a time, or the time zone is unknown
 */
export function timeAt(local: string, zone: string): Date | undefined {
  if (!isTimeZone(zone)) return undefined;
  const time = DateTime.fromISO(local, { zone });
  return time.isValid ? time.toJSDate() : undefined;
}

/** Returns what a clock in the time zone shows, as in a field of the type `datetime-local`, with milliseconds. */
export function localTimeAt(time: Date, zone: string): string {
  return DateTime.fromJSDate(time, { zone }).toFormat("yyyy-MM-dd'T'HH:mm:ss.SSS");
}

/** Returns `UTC`, or how far the time zone is from it at the time, such as `UTC+01:00`. */
export function offsetAt(time: Date, zone: string): string {
  return zone === UTC ? UTC : `UTC${DateTime.fromJSDate(time, { zone }).toFormat('ZZ')}`;
}
