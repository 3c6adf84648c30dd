import type { Type } from '@nestjs/common';
import { INVALID_ACCESS_TOKEN } from '../auth/index.js';
import { ApiError, INVALID_FIELD } from '../errors/index.js';
import type { FormFields } from '../http/index.js';
import { validated, validatedQuery } from '../validation/index.js';
import type { PageResponse } from './page.js';
import { localTimeAt, timeAt, UTC, ZONE_PARAMETER } from './time-zones.js';

/**
 * Performs what a form asks for. If the request is rejected for a reason that the user can correct, shows the form again: its
 * fields have what the user entered. The reason is at the field that it is about, or else `FormProblem` shows it.
 */
export async function submitted(
  action: () => Promise<PageResponse>,
  formAgain: (problem: string) => PageResponse | Promise<PageResponse>,
): Promise<PageResponse> {
  try {
    return await action();
  } catch (error) {
    if (!isCorrectable(error)) throw error;
    const page = await formAgain(error.message);
    return 'redirectTo' in page ? page : { ...page, status: error.status, problem: error };
  }
}

function isCorrectable(error: unknown): error is ApiError {
  return (
    error instanceof ApiError &&
    // A query that took too long (504) can be narrowed.
    (error.status < 500 || error.status === 504) &&
    error.status !== 404 &&
    error.code !== INVALID_ACCESS_TOKEN.code
  );
}

/** The field with the values that a form shows when it is opened. */
export const SEEN_FIELD = 'seen';

/** The state that a form can change, as the page shows it: values by the labels of their fields. */
export type ShownValues = Readonly<Record<string, string>>;

/**
 * Refuses a form that would undo a change. A form without the field is accepted: other programs do not send it. Call it while
 * the row is locked, so that of two forms that are sent at the same time only one is accepted.
 *
 * @param current the values now, as given to `Seen`
 * @throws ApiError INVALID_FIELD
 */
export function requireUnchanged(form: FormFields, current: ShownValues): void {
  const seen = form.get(SEEN_FIELD);
  if (seen === undefined || seen === JSON.stringify(current)) return;
  const values = Object.entries(current).map(([label, value]) => `${label}: ${value}`);
  throw INVALID_FIELD.error(
    `This was changed after you opened the form. Nothing was saved. Current values: ${values.join('; ')}. Check them before you send the form again.`,
  );
}

/**
 * Turns a form into the request of an operation. Empty fields are absent, and names that end with `[]` are arrays.
 *
 * @throws ApiError INVALID_FIELD
 */
export function requestFrom<Dto extends object>(type: Type<Dto>, form: FormFields, more: object = {}): Dto {
  return validated(type, { ...form.values(), ...more });
}

/**
 * Turns the query of a list's page into the query of the operation. Blank parameters are filters that the user left empty, and
 * `start` and `end` may be values of the type `datetime-local`, in the time zone that the parameter `zone` names.
 *
 * @param query the query of the page; parameters that control only the page, and those that track a link, are ignored
 * @throws ApiError INVALID_FIELD
 */
export function queryFrom<Dto extends object>(type: Type<Dto>, query: object, more: object = {}): Dto {
  return validatedQuery(type, { ...filtersOf(query), ...more });
}

/** Returns the query of a list's page without what controls only the page, and with timestamps. */
export function filtersOf(query: object): Record<string, unknown> {
  const { [ZONE_PARAMETER]: zone } = query as Record<string, unknown>;
  const filters = Object.entries(query)
    .filter(([name, value]) => value !== '' && value !== undefined && !isOfPage(name))
    .map(([name, value]) => [
      name,
      TIME_PARAMETERS.includes(name) ? timestampFrom(value, zone, name === 'end') : value,
    ]);
  return Object.fromEntries(filters);
}

/**
 * Control only the page: `done` names the message after a form, `live` turns on live updates, and `trail` leads to the pages
 * before.
 */
const PAGE_PARAMETERS = ['done', 'live', 'trail', ZONE_PARAMETER];
const TIME_PARAMETERS = ['start', 'end'];
/** Mail programs, ad networks and messengers add these to links. */
const TRACKING_PARAMETER = /^(?:utm_\w+|[a-z]+clid|msclkid|[gw]braid|mc_[ce]id|_hs(?:enc|mi)|_g[al]|igshid)$/;

function isOfPage(name: string): boolean {
  return PAGE_PARAMETERS.includes(name) || TRACKING_PARAMETER.test(name);
}

const LOCAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?$/;

/**
 * Returns the value of a field of the type `datetime-local` as a timestamp. Returns other values unchanged.
 *
 * @param zone the time zone of the value
 * @param isEnd whether the value ends a period
 */
export function timestampFrom(value: unknown, zone: unknown = UTC, isEnd = false): unknown {
  if (typeof value !== 'string' || !LOCAL_TIME.test(value)) return value;
  return timeAt(value, zone === '' ? UTC : String(zone), isEnd)?.toISOString() ?? value;
}

/**
 * Returns a time of the query as the value of a field of the type `datetime-local`.
 *
 * @param zone the time zone of the query
 * @param shownZone the time zone of the field
 * @param isEnd whether the value ends a period
 */
export function localTimeOf(
  value: string | undefined,
  zone: string | undefined,
  shownZone: string,
  isEnd = false,
): string | undefined {
  const time = Date.parse(String(timestampFrom(value, zone, isEnd)));
  return Number.isNaN(time)
    ? value
    : localTimeAt(new Date(time), shownZone).replace(/(?::00)?(?:\.000)?$/, '');
}
