import { Controller, Post } from '@nestjs/common';
import { INVALID_FIELD } from '../errors/index.js';
import { pathAndQuery, setCookie } from '../http/index.js';
import { Clock, DAY } from '../time/index.js';
import type { PageResponse } from './page.js';
import { PageRoute, Visit, type PageVisit } from './page-route.decorator.js';
import { timeZoneNamed, TIME_ZONE_COOKIE, ZONE_PARAMETER } from './time-zones.js';

const COOKIE_LIFETIME = 365 * DAY;
/** A page of this service: the path never begins with two slashes, which would name another host. */
const PATH = /^\/(?![/\\])[\x21-\x7e]{0,4096}$/;

@Controller('time-zone')
export class TimeZoneController {
  constructor(private readonly clock: Clock) {}

  /** Remembers the time zone in which pages show times, and returns to the page. */
  @Post()
  @PageRoute({ login: true, withoutSecondFactor: true, form: true })
  choose(@Visit() { form, response }: PageVisit): PageResponse {
    const zone = timeZoneNamed(form.get(ZONE_PARAMETER) ?? '');
    if (zone === undefined) throw INVALID_FIELD.error('The time zone is unknown.');
    setCookie(response, TIME_ZONE_COOKIE, zone, new Date(this.clock.milliseconds() + COOKIE_LIFETIME));
    const page = form.get('page') ?? '';
    return { redirectTo: PATH.test(page) ? withoutNotice(page) : '/dashboard' };
  }
}

/** What was done before must not be announced again, and a link must not announce what was not done. */
function withoutNotice(page: string): string {
  const { path, query } = pathAndQuery(page);
  query.delete('done');
  return query.size === 0 ? path : `${path}?${query}`;
}
