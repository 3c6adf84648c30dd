import type { Request } from 'express';
import { DateTime } from 'luxon';
import { BoundedCache } from '../caching/index.js';
import { cookieOf } from '../http/index.js';
import { DAY } from '../time/index.js';

export const UTC = 'UTC';

/** Remembers the time zone that the user chose, by its IANA name. Without it, pages show UTC. */
export const TIME_ZONE_COOKIE = 'time_zone';
/** The parameter of a page's address, and the field of a form, with the time zone in which its local times are read. */
export const ZONE_PARAMETER = 'zone';

const MAX_NAME_LENGTH = 64;

const canonicalNames = new BoundedCache<string>({ max: 1_000 });

/**
 * Returns the canonical name of UTC or of another IANA time zone, such as `Europe/Berlin`. Luxon keeps each spelling of a name
 * that it gets forever, and the case of names does not matter, so it must get no other.
 *
 * @returns undefined if there is no such time zone
 */
export function timeZoneNamed(name: string): string | undefined {
  if (name === UTC) return UTC;
  if (name.length > MAX_NAME_LENGTH || !name.includes('/')) return undefined;
  const known = canonicalNames.get(name);
  if (known !== undefined) return known;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    canonicalNames.set(name, timeZone);
    return timeZone;
  } catch {
    return undefined;
  }
}

/** Returns the time zone in which pages show times to the user. */
export function timeZoneOf(request: Request): string {
  const chosen = cookieOf(request, TIME_ZONE_COOKIE);
  return timeZoneNamed(chosen ?? UTC) ?? UTC;
}

/**
 * Returns the time of a clock in the time zone. A time that was skipped when clocks went forward means the time an hour later.
 *
 * @param local as in a field of the type `datetime-local`
 * @param isEnd whether a time that came twice, when clocks went back, means the second one: a period then includes both
 * @returns undefined if the text is not a time, or the time zone is unknown
 */
export function timeAt(local: string, zone: string, isEnd = false): Date | undefined {
  const name = timeZoneNamed(zone);
  if (name === undefined) return undefined;
  const time = DateTime.fromISO(local, { zone: name });
  if (!time.isValid) return undefined;
  const times = time.getPossibleOffsets().map((each) => each.toMillis());
  return new Date(isEnd ? Math.max(...times) : Math.min(...times));
}

/** Returns what a clock in the time zone shows, as in a field of the type `datetime-local`, with milliseconds. */
export function localTimeAt(time: Date, zone: string): string {
  return DateTime.fromJSDate(time, { zone }).toFormat("yyyy-MM-dd'T'HH:mm:ss.SSS");
}

/** Returns the day in the time zone: 2026-01-31. */
export function localDay(time: Date, zone: string): string {
  return localTimeAt(time, zone).slice(0, 10);
}

/** Returns the time of day in the time zone: 08:15:30, or 08:15:30.123. */
export function localClock(time: Date, zone: string, isExact = false): string {
  return localTimeAt(time, zone).slice(11, isExact ? 23 : 19);
}

const WEEKDAY = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: UTC });

/** Returns a day in words: "Today", "Yesterday" or the day of the week, with the date. */
export function dayInWords(day: string, today: string): string {
  const days = (Date.parse(today) - Date.parse(day)) / DAY;
  const name = ['Today', 'Yesterday'][days] ?? WEEKDAY.format(new Date(day));
  return `${name}, ${day}`;
}

/** Returns `UTC`, or how far the time zone is from it at the time, such as `UTC+01:00`. */
export function offsetAt(time: Date, zone: string): string {
  return zone === UTC ? UTC : `UTC${DateTime.fromJSDate(time, { zone }).toFormat('ZZ')}`;
}

/**
 * Returns the labels of the points of a chart: hours within a day, or days and hours within a longer period. An hour that is repeated when clocks go back is told apart by
 * its distance from UTC.
 */
export function labelsOf(points: readonly { readonly start: Date }[], zone: string): string[] {
  const first = points[0]?.start;
  const last = points.at(-1)?.start;
  const isLong = first !== undefined && last !== undefined && last.getTime() - first.getTime() >= DAY;
  const labels = points.map(({ start }) => {
    const text = localTimeAt(start, zone);
    return isLong ? `${text.slice(5, 10)} ${text.slice(11, 16)}` : text.slice(11, 16);
  });
  return labels.map((label, index) => {
    const time = points[index]?.start;
    return time && labels.indexOf(label) < index ? `${label} ${offsetAt(time, zone)}` : label;
  });
}
