import { Controller, Get, Post } from '@nestjs/common';
import { INVALID_FIELD } from '../errors/index.js';
import { pathAndQuery, setCookie } from '../http/index.js';
import { Clock, DAY } from '../time/index.js';
import type { VNode } from 'preact';
import { usePage, type Page, type PageResponse } from './page.js';
import { PageRoute, Visit, type PageVisit } from './page-route.decorator.js';
import { Form, TextField } from './parts/form.js';
import { FormProblem } from './parts/elements.js';
import { submitted } from './page-input.js';
import { timeZoneNamed, TIME_ZONE_COOKIE, UTC, ZONE_PARAMETER } from './time-zones.js';

const COOKIE_LIFETIME = 365 * DAY;
/** A page of this service: the path never begins with two slashes, which would name another host. */
const PATH = /^\/(?![/\\])[\x21-\x7e]{0,4096}$/;
const ALL_ZONES = [UTC, ...Intl.supportedValuesOf('timeZone').filter((name) => name.includes('/'))];

@Controller('time-zone')
export class TimeZonePage {
  constructor(private readonly clock: Clock) {}

  /** Offers all time zones. The browser finds them by any part of their names. */
  @Get()
  @PageRoute({ login: true, withoutSecondFactor: true })
  start(): PageResponse {
    return zonePage();
  }

  /** Remembers the time zone in which pages show times, and returns to the page. */
  @Post()
  @PageRoute({ login: true, withoutSecondFactor: true, form: true })
  choose(@Visit() { form, response }: PageVisit): Promise<PageResponse> {
    const page = form.get('page') ?? '';
    return submitted(
      async () => {
        const zone = timeZoneNamed(form.get(ZONE_PARAMETER) ?? '');
        if (zone === undefined)
          throw INVALID_FIELD.error('The time zone is unknown. Choose one from the list.', {
            field: ZONE_PARAMETER,
          });
        setCookie(response, TIME_ZONE_COOKIE, zone, new Date(this.clock.milliseconds() + COOKIE_LIFETIME));
        return { redirectTo: PATH.test(page) ? withoutNotice(page) : '/dashboard' };
      },
      () => zonePage(page),
    );
  }
}

/** @param page where the form leads; by default, the page before this one */
function zonePage(page?: string): Page {
  return { title: 'Time zone', content: <ZoneForm page={page} /> };
}

function ZoneForm({ page }: { readonly page: string | undefined }): VNode {
  const { cameFrom, timeZone } = usePage();
  const back = page ?? cameFrom;
  return (
    <>
      <FormProblem />
      <p>
        In this browser, all pages show times in the time zone <strong>{timeZone}</strong>. Exports and emails
        are in UTC.
      </p>
      <Form action="/time-zone">
        <input type="hidden" name="page" value={back} />
        <TextField
          name={ZONE_PARAMETER}
          label="Time zone"
          hint="Type a part of its name, such as Berlin."
          suggestions={ALL_ZONES}
          isFirst
        />
        <div class="actions">
          <button>Use this time zone</button>
          {back !== undefined && PATH.test(back) ? (
            <a class="button second" href={back}>
              Cancel
            </a>
          ) : null}
        </div>
      </Form>
    </>
  );
}

/** Removes the notice: an earlier action must not be announced again, and a link must not announce an action that was not done. */
function withoutNotice(page: string): string {
  const { path, query } = pathAndQuery(page);
  query.delete('done');
  return query.size === 0 ? path : `${path}?${query}`;
}
