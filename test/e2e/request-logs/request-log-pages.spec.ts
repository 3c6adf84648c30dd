import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { OpenAPIObject } from '@nestjs/swagger';
import { documentedOperationAt } from '../../../src/infrastructure/openapi/index.js';
import { readProjectFile } from '../../../src/infrastructure/project-files/index.js';
import { HOUR } from '../../../src/infrastructure/time/index.js';
import type { AttributedClient } from '../../../src/infrastructure/http/index.js';
import type { AnyEvent } from '../../../src/infrastructure/event-catalog/index.js';
import {
  OrganizationQueryQueue,
  REQUEST_LOG_QUERY_TIMEOUT,
  RequestLogRepository,
} from '../../../src/modules/request-logs/index.js';
import { curlOfRequest } from '../../../src/modules/request-logs/pages/curl-command.js';
import { safeRedirectPath } from '../../../src/modules/dashboard-login/safe-redirect-path.js';
import { WebhookPublisher } from '../../../src/modules/webhooks/index.js';
import { fillRequestLog, loggedAttempt, loggedRequest } from '../../support/logs/request-log-entries.js';
import { eventually } from '../../support/eventually.js';
import { useTestApp, type Login } from '../../support/test-app.js';
import { linkTo, Visitor, visitorWithRole } from '../../support/pages/visitor.js';

const PATH = '/dashboard/production/request-logs';
const MAX_PAGE_SIZE = 60_000;
const EVENT: AnyEvent = {
  event: 'MERCHANT_STATUS_UPDATE',
  merchant: { id: 16, name: "Bob's" },
  data: { status: 'UNDER_MAINTENANCE' },
} as unknown as AnyEvent;

const service = useTestApp();
let visitor: Awaited<ReturnType<typeof visitorWithRole>>;
let production: AttributedClient;

beforeAll(async () => {
  visitor = await visitorWithRole(service, 'member');
  production = { clientId: service.production.clientId, environment: 'production' };
});
beforeEach(() => service.database.query('DELETE FROM request_log'));

const ago = (milliseconds: number): Date => new Date(Date.now() - milliseconds);

interface DocumentedOperation {
  readonly requestBody?: { readonly content: object };
  readonly security: readonly object[];
}

/** Adds requests of users that are named by their number, the newest last. */
const addRequests = (count: number, change = {}): Promise<void> =>
  fillRequestLog(
    service,
    Array.from({ length: count }, (_, index) =>
      loggedRequest(production, {
        createdAt: ago(HOUR - index),
        externalUserId: `user-${index + 1}`,
        sessionId: randomUUID(),
        ...change,
      }),
    ),
  );

/** Returns the users of the entries, in the order of the page. */
const usersOf = (html: string): string[] => [...html.matchAll(/>(user-\d+)</g)].map(([, user = '']) => user);

/** Opens the newest entry, and returns what a browser shows of the page. */
async function openNewest(): Promise<string> {
  const { text } = await visitor.get(firstEntry((await visitor.get(PATH)).text));
  return text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&');
}

/** Returns the path of the first entry of the list. */
const firstEntry = (html: string): string => new RegExp(`href="(${PATH}/\\d+)"`).exec(html)?.[1] ?? '';

describe('The list of request logs', () => {
  it('says how to start when the environment has no entries', async () => {
    const { status, text } = await visitor.get(PATH);
    expect(status).toBe(200);
    expect(text).toContain('No requests yet');
    expect(text).toContain('href="/docs/quickstart"');
    expect(linkTo('Show API credentials', text)).toBe('/dashboard/production/api-credentials');
  });

  it('counts entries in bars that lead to them, if the filters allow it', async () => {
    await addRequests(3);
    await addRequests(1, { statusCode: 500, createdAt: ago(2 * HOUR) });
    await addRequests(2, { statusCode: 400, createdAt: ago(4 * HOUR) });
    const { text } = await visitor.get(PATH);
    // As in the list, what was rejected is amber, and what failed is red.
    const colors = [...text.matchAll(/<a href="[^"]+" tabindex="-1">(.*?)<\/a>/g)].map(([, bar = '']) =>
      [...bar.matchAll(/fill-(\w+)/g)].map(([, color]) => color),
    );
    expect(colors).toEqual([['warn'], ['bad'], ['good']]);
    const bars = [...text.matchAll(/<a href="([^"]+)" tabindex="-1"><title>([^<]+)<\/title>/g)];
    expect(bars.map(([, , title = '']) => title.replace(/^.*: /, ''))).toEqual([
      '2 entries, 2 failed',
      '1 entry, 1 failed',
      '3 entries',
    ]);
    const [, path = ''] = bars[2] ?? [];
    expect(usersOf((await visitor.get(path.replaceAll('&amp;', '&'))).text)).toHaveLength(3);
    expect((await visitor.get(`${PATH}?outcome=failure`)).text.match(/<title>[^<]* failed/g)).toHaveLength(2);
    expect((await visitor.get(`${PATH}?external_user_id=user-1`)).text).not.toContain('class="histogram"');
  });

  it('offers the last seven days, or the newest entries, when the period has none', async () => {
    await fillRequestLog(service, [loggedRequest(production, { createdAt: ago(30 * HOUR) })]);
    const recent = await visitor.get(PATH);
    expect(recent.text).toContain('No entries in this period');
    expect(recent.text).toContain('yesterday');
    expect((await visitor.get(linkTo('Show the last 7 days', recent.text))).text).toContain('yesterday');

    await service.database.query('DELETE FROM request_log');
    await fillRequestLog(service, [loggedRequest(production, { createdAt: ago(9 * 24 * HOUR) })]);
    const { text } = await visitor.get(PATH);
    expect(firstEntry((await visitor.get(linkTo('Show the newest entries', text))).text)).not.toBe('');
  });

  it('offers to clear filters that match nothing', async () => {
    await addRequests(1);
    const { text } = await visitor.get(`${PATH}?external_user_id=nobody&period=1h`);
    expect(text).toContain('No entries match these filters');
    expect(linkTo('Clear filters', text)).toBe(`${PATH}?period=1h`);
    expect(linkTo('Show the last 7 days', text)).toBe(`${PATH}?external_user_id=nobody&period=7d`);
    expect((await visitor.get(`${PATH}?period=unknown`)).text).toContain('value="24h" selected');
  });

  it('applies every filter of the operation', async () => {
    const eventId = randomUUID();
    const endpointId = randomUUID();
    const sessionId = randomUUID();
    const attempt = { endpointId, eventId, number: 1, reason: 'NON_200' };
    const phases = { dns: 1, connect: 2, tls: 3, firstByte: 4 };
    await fillRequestLog(service, [
      loggedRequest(production, { createdAt: ago(1), externalUserId: 'other' }),
      loggedRequest(production, { createdAt: ago(HOUR), externalUserId: 'wanted', apiKey: 'Orders' }),
      loggedAttempt(production, {
        createdAt: ago(HOUR),
        externalUserId: 'wanted',
        sessionId,
        taskId: 77,
        statusCode: 503,
        attempt: { ...attempt, phases },
      }),
    ]);
    const filters = {
      type: 'webhook',
      outcome: 'failure',
      external_user_id: 'wanted',
      session_id: sessionId,
      task_id: '77',
      event: 'CARD_UPDATED',
      status_code: '503',
      endpoint_id: endpointId,
      event_id: eventId,
      api_key: 'Orders',
      start: ago(2 * HOUR)
        .toISOString()
        .slice(0, 16),
    };
    for (const [name, value] of Object.entries(filters)) {
      const { status, text } = await visitor.get(`${PATH}?${new URLSearchParams({ [name]: value })}`);
      expect([name, status]).toEqual([name, 200]);
      expect(text).toContain('>wanted<');
      if (name !== 'start') expect(text).not.toContain('>other<');
      // The form shows the filters of the address.
      expect(text).toMatch(new RegExp(`(name="${name}"[^>]*value="${value}"|value="${value}" selected)`));
    }
    const { text } = await visitor.get(`${PATH}?end=${ago(HOUR / 2).toISOString()}`);
    expect(text).not.toContain('>other<');
  });

  it('explains filters that are not valid and keeps them', async () => {
    const { status, text } = await visitor.get(`${PATH}?status_code=99&event=CARD_UPDATED`);
    expect(status).toBe(400);
    expect(text).toContain('The “Status code” field must be at least 100.');
    expect(text).toMatch(/value="CARD_UPDATED" selected/);
    const tooLong = await visitor.get(`${PATH}?start=2026-01-01T00:00`);
    expect(tooLong.text).toContain('The “From” field must be at most 7 days before the “To” field.');
  });

  it('explains a query that takes too long', async () => {
    const store = service.app.get(RequestLogRepository);
    const { newest } = store;
    const { REQUEST_LOG_QUERY_TIMEOUT } =
      await import('../../../src/modules/request-logs/request-logs-errors.js');
    store.newest = () => Promise.reject(REQUEST_LOG_QUERY_TIMEOUT.error());
    const { status, text } = await visitor.get(PATH);
    store.newest = newest;
    expect(status).toBe(504);
    expect(text).toContain('Shorten the period');
    expect(text).toContain('Apply filters');
  });

  it('pages through a relative period without a gap, below 60 KB for each page', async () => {
    await addRequests(75);
    const first = await visitor.get(`${PATH}?period=7d&type=request&live=on`);
    expect(first.text).toContain('hx-trigger="every 5s"');
    expect(first.text).toContain('>user-75<');
    expect(first.text).toContain('>user-26<');
    expect(first.size).toBeLessThan(MAX_PAGE_SIZE);
    const second = await visitor.get(linkTo('Next page', first.text));
    expect(second.status).toBe(200);
    expect(second.text).toContain('>user-25<');
    expect(second.text).toContain('>user-1<');
    expect(second.text).not.toContain('>user-26<');
    // Older pages do not change, so they are never live.
    expect(second.text).not.toContain('live updates');
    const again = await visitor.get(linkTo('Previous page', second.text));
    expect(usersOf(again.text)).toEqual(usersOf(first.text));
    expect(linkTo('Previous page', again.text)).toBe('');
    const next = await visitor.get(linkTo('Next page', again.text));
    expect(usersOf(next.text)).toEqual(usersOf(second.text));
    expect((await visitor.get(linkTo('Back to the first page', second.text))).text).toContain('>user-75<');
  });

  it('leads back from a deep page, whose address is short enough to return to after a login', async () => {
    const externalUserId = `user-${'é'.repeat(100)}`;
    await addRequests(1_250, { externalUserId });
    const entriesOn = ({ text }: { readonly text: string }) => text.match(/id="entry-\d+"/g);
    let path = `${PATH}?${new URLSearchParams({ period: '7d', external_user_id: externalUserId })}`;
    const pages = [await visitor.get(path)];
    while (pages.length < 25) {
      path = linkTo('Next page', pages.at(-1)?.text ?? '');
      pages.push(await visitor.get(path));
    }
    expect(safeRedirectPath(path)).toBe(path);
    for (const page of pages.slice(-6, -1).toReversed()) {
      path = linkTo('Previous page', (await visitor.get(path)).text);
      expect(entriesOn(await visitor.get(path))).toEqual(entriesOn(page));
    }
    const first = await visitor.get(linkTo('Back to the first page', pages.at(-1)?.text ?? ''));
    expect(entriesOn(first)).toEqual(pages[0] && entriesOn(pages[0]));
  });

  it('remembers the chosen columns', async () => {
    await addRequests(50);
    expect((await visitor.get(PATH)).text).not.toContain('>Session ID</th>');
    const columns = await visitor.get(`${PATH}/columns/choose?type=request`);
    expect(columns.text).toContain('value="user" checked');
    const saved = await visitor.submit(`${PATH}/columns/choose`, {
      'columns[]': 'session',
      filters: 'type=request&outcome=success',
    });
    expect([saved.status, saved.location]).toEqual([303, `${PATH}?type=request&outcome=success`]);
    const { text, size } = await visitor.get(PATH);
    expect(text).toContain('>Session ID</th>');
    expect(text).not.toContain('>Customer</th>');
    expect(size).toBeLessThan(MAX_PAGE_SIZE);
    await visitor.fill(`${PATH}/columns/choose`, {});
    expect((await visitor.get(PATH)).text).not.toContain('>Session ID</th>');
    visitor.cookies.delete('request_log_columns');
  });

  it('stays below 60 KB with all columns', async () => {
    await fillRequestLog(
      service,
      Array.from({ length: 50 }, () => loggedAttempt(production, { createdAt: ago(HOUR) })),
    );
    const all = new Visitor(service);
    for (const [name, value] of visitor.cookies) all.cookies.set(name, value);
    for (const columns of [
      'latency.user.session.task.endpoint.event_id',
      'user.session.task.endpoint.event_id',
    ]) {
      all.cookies.set('request_log_columns', columns);
      const { text, size } = await all.get(`${PATH}?type=webhook&outcome=failure`);
      expect(text).toContain('>Event ID</th>');
      expect(text).toContain('Send all failed again');
      expect(size).toBeLessThan(MAX_PAGE_SIZE);
    }
  });

  it('requires a login, and shows only the organization’s own entries of the environment', async () => {
    await addRequests(1);
    const entry = firstEntry((await visitor.get(PATH)).text);
    expect((await new Visitor(service).get(PATH)).location).toBe(`/login?next=${encodeURIComponent(PATH)}`);
    expect((await visitor.get('/dashboard/development/request-logs')).text).toContain('No requests yet');
    expect((await visitor.get(entry.replace('production', 'development'))).status).toBe(404);
    const { id } = await service.anotherOrganization();
    const { cookie } = await service.login('owner', id);
    const stranger = new Visitor(service);
    stranger.cookies.set('session', cookie.replace('session=', ''));
    expect((await stranger.get(PATH)).text).toContain('No requests yet');
    expect((await stranger.get(entry)).status).toBe(404);
    expect((await visitor.get(`${PATH}/nothing`)).status).toBe(404);
    expect((await visitor.get('/dashboard/staging/request-logs')).status).toBe(404);
  });
});

describe('The page of a request log entry', () => {
  it('shows the error that a request got, and the field that was refused', async () => {
    await service.request('/session/create', { body: { external_user_id: 7 }, as: service.production });
    const text = await eventually('the entry', async () => {
      const newest = await openNewest().catch(() => '');
      return newest.includes('Why the request failed') ? newest : undefined;
    });
    expect(text).toContain('"error_code": "INVALID_FIELD"');
    expect(text).toMatch(/Refused field: <code>[a-z_]+<\/code>/);
    expect(text).toContain('href="/docs/errors#invalid_field"');
    expect(text).toContain('aria-label="Copy: Request ID"');
    await addRequests(1);
    await service.database.query('DELETE FROM request_log WHERE status_code >= 400');
    expect(await openNewest()).not.toContain('Why the request failed');
  });

  it.each([
    ['a key', { apiKey: 'Orders' }, 'href="/dashboard/production/api-credentials/keys">API key</a> Orders'],
    ['a secret', { secretVersion: 2 }, 'href="/dashboard/production/api-credentials">Secret</a>, version 2'],
    ['wrong credentials', { statusCode: 401 }, 'No accepted credentials'],
    ['an agent', { path: `/mcp/${randomUUID()}` }, 'MCP token'],
  ])('says who sent a request with %s', async (_, change, credentials) => {
    const caller = { requestId: 'request-1', ip: '203.0.113.7', userAgent: 'orders/1.2' };
    await addRequests(1, { ...caller, ...change });
    const text = await openNewest();
    const viewer = await visitorWithRole(service, 'viewer');
    const seen = await viewer.get(firstEntry((await viewer.get(PATH)).text));
    expect(seen.text).toContain('<dt>Sent with</dt>');
    expect(seen.text).not.toContain('api-credentials');
    for (const shown of [credentials, '203.0.113.7', 'orders/1.2', 'aria-label="Copy: Request ID"'])
      expect(text).toContain(shown);
    expect(text).toContain('data-of="curl">Copy as curl</button>');
    if ('apiKey' in change) {
      await addRequests(1, { createdAt: ago(2 * HOUR), externalUserId: 'other' });
      expect(usersOf((await visitor.get(linkTo('All entries of this key', text))).text)).toEqual(['user-1']);
    }
  });

  it('links to the operation in the API reference, if there is one', async () => {
    const link = async (change: object): Promise<string> => {
      await service.database.query('DELETE FROM request_log');
      await addRequests(1, change);
      return linkTo('Open in the API reference', await openNewest());
    };
    expect(await link({})).toBe('/docs/api/operations/createMcpToken');
    expect(await link({ path: `/sign-in-links/${randomUUID()}`, method: 'GET' })).toBe(
      '/docs/api/operations/getSignInLink',
    );
    expect(await link({ path: '/nothing' })).toBe('');
    const { status, headers } = await service.request('/docs/api/operations/createMcpToken');
    expect([status, headers.get('location')]).toEqual([
      302,
      expect.stringMatching(/^\/docs\/api\/[a-z-]+#createMcpToken$/),
    ]);
    expect((await service.request('/docs/api/operations/createNothing')).status).toBe(404);
  });

  it('says of refused credentials what is wrong, which was not sent', async () => {
    const message = 'The API key “office” is not accepted from this address.';
    await addRequests(1, { statusCode: 401, errorCode: 'INVALID_API_KEYS', errorMessage: message });
    const text = await openNewest();
    expect(text).toContain(message);
    expect(text).toContain('Why the request failed');
    expect(text).not.toContain('that was sent');
  });

  it('shows a delivery with its timing, event and response, and sends it again', async () => {
    const eventId = await service.app.get(WebhookPublisher).publish(production, EVENT);
    const { body } = await service.request('/webhook-endpoints/create', {
      body: { environment: 'production', url: 'https://hooks.example.com/merchants' },
      login: await service.login('owner'),
    });
    const endpointId = String(body['id']);
    await fillRequestLog(service, [
      loggedAttempt(production, {
        createdAt: ago(HOUR),
        latencyMilliseconds: 1_084,
        event: 'MERCHANT_STATUS_UPDATE',
        attempt: {
          endpointId,
          eventId,
          number: 2,
          reason: 'NON_200',
          responseBody: '{"error":"<full>"}',
          phases: { dns: 1, connect: 11, tls: null, firstByte: 1_048 },
        },
      }),
    ]);
    const text = await openNewest();
    expect(text).toContain('MERCHANT_STATUS_UPDATE to hooks.example.com');
    expect(text).toContain('Your endpoint responded with 503. Only 200 counts as received');
    expect(text).toContain('Waiting for the response: 1,048 ms');
    expect(text).toContain('Other: 24 ms');
    expect(text).toContain('<dd>1,084 ms</dd>');
    expect(text).toContain('{\n  "error": "<full>"\n}');
    expect(text).toContain('"name": "Bob\'s"');
    expect(text).toContain(`-H 'webhook-id: ${eventId}'`);
    expect(text).toContain("Bob'\\''s");
    expect(text).toContain('Replace ***');
    const event = `/dashboard/production/events/${eventId}`;
    expect(text).toContain(`action="${event}"`);
    expect(text).toContain(`name="endpoint_id" value="${endpointId}"`);
    const sent = await visitor.submit(event, { endpoint_id: endpointId });
    expect([sent.status, sent.location]).toEqual([303, `${event}?done=queued&live=on`]);
    expect((await visitor.get(linkTo('All attempts', text))).text).toContain('MERCHANT_STATUS_UPDATE');
    const viewer = await visitorWithRole(service, 'viewer');
    const seen = await viewer.get(firstEntry((await viewer.get(PATH)).text));
    expect(seen.text).toContain('Waiting for the response: 1,048 ms');
    expect(seen.text).not.toContain('Send again</button>');
  });

  it('shows a response as it is if indenting would make the page large', async () => {
    const body = '['.repeat(1_000) + ']'.repeat(1_000);
    const phases = { dns: null, connect: null, tls: null, firstByte: null };
    const attempt = {
      endpointId: randomUUID(),
      eventId: randomUUID(),
      number: 1,
      reason: 'NON_200' as const,
      responseBody: body,
      phases,
    };
    await fillRequestLog(service, [loggedAttempt(production, { createdAt: ago(HOUR), attempt })]);
    const text = await openNewest();
    expect(text).toContain(body);
    expect(text.length).toBeLessThan(60_000);
  });

  it.each([
    ['INTERRUPTED', 'The service was interrupted, so the times are not known.', 'the response is not known.'],
    ['NOT_HTTP', 'Connecting: 11 ms', 'No response that could be read.'],
    ['HEADERS_TOO_LARGE', 'Connecting: 11 ms', 'No response that could be read.'],
    ['DNS', 'The attempt failed before it opened a connection.', 'There was no response.'],
  ] as const)('says what is known about an attempt that failed with %s', async (reason, timing, response) => {
    const connect = timing.startsWith('Connecting') ? 11 : null;
    const attempt = {
      endpointId: randomUUID(),
      eventId: randomUUID(),
      number: 1,
      reason,
      phases: { dns: null, connect, tls: null, firstByte: null },
    };
    await fillRequestLog(service, [
      loggedAttempt(production, { createdAt: ago(HOUR), statusCode: 0, attempt }),
    ]);
    const text = await openNewest();
    expect(text).toContain(timing);
    // As the reason of the status code, among the details that are shown first. There is no response to show.
    expect(text.split(response)).toHaveLength(2);
    expect(text).toContain('id="tab-details" class="tab shown"');
    expect(text).not.toContain('id="tab-response"');
  });

  it('repeats each operation with credentials that it accepts, and a body of its type', () => {
    const document = JSON.parse(readProjectFile('openapi.json')) as OpenAPIObject;
    const operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item as Record<string, DocumentedOperation>).map(
        ([method, operation]) => [method.toUpperCase(), path, operation] as const,
      ),
    );
    expect(operations.length).toBeGreaterThan(50);
    for (const [method, path, { requestBody, security }] of operations) {
      const filled = path.replaceAll(/\{\w+\}/g, randomUUID());
      const entry = { method, path: filled, secret_version: null };
      const curl = curlOfRequest(entry, service.baseUrl, documentedOperationAt(method, filled));
      const schemes = security.flatMap((each) => Object.keys(each));
      const sent = curl.includes('-u "$client_id:$key"')
        ? 'basic'
        : curl.includes('Bearer $key')
          ? 'bearer'
          : undefined;
      expect([path, sent]).toEqual([path, ['basic', 'bearer'].find((each) => schemes.includes(each))]);
      const [type] = Object.keys(requestBody?.content ?? {});
      const body = { 'application/json': 'body.json', 'application/x-www-form-urlencoded': 'body.txt' }[
        type ?? ''
      ];
      expect([path, /-d @(.+)/.exec(curl)?.[1]]).toEqual([path, body]);
    }
  });

  it.each([
    ['an access token', '/oauth/token', 'POST', '-d @body.txt', 'add -u "$client_id:$key".'],
    ['the dashboard API', '/me', 'GET', '-H "Authorization: Bearer $key"', 'or to an access token.'],
    ['the platform API', '/merchants', 'GET', '-u "$client_id:$key"', 'or the secret if it is accepted'],
  ])(
    'shows a refused request of %s with credentials that may work',
    async (_, path, method, option, hint) => {
      await addRequests(1, { statusCode: 401, path, method });
      const text = (await openNewest()).replaceAll('&quot;', '"');
      expect(text).toContain(option);
      expect(text).toContain(hint);
      expect(text).not.toContain('$secret');
    },
  );

  it('shows an API request with a curl command without secrets', async () => {
    await addRequests(1, { statusCode: 401, secretVersion: 1 });
    const text = await openNewest();
    expect(text).toContain('The credentials were missing or wrong.');
    expect(text).toContain(`'${service.baseUrl}/mcp/tokens/create'`);
    expect(text).toContain('-u "$client_id:$secret"');
    expect(text).toContain('save yours as body.json');
    expect(text).not.toContain('Send again');
  });

  it('shows a call of an unknown tool without its name', async () => {
    await addRequests(1, { path: '/mcp', tool: null });
    expect((await visitor.get(PATH)).text).toContain('>POST /mcp</a>');
    expect(await openNewest()).toContain('save yours as body.json');
  });

  it('says if the event is no longer stored', async () => {
    await fillRequestLog(service, [loggedAttempt(production, { createdAt: ago(HOUR) })]);
    const text = await openNewest();
    expect(text).toContain('The event is no longer stored.');
  });
});

describe('The export of request logs', () => {
  it('contains what the filters show, as NDJSON or as CSV without formulas', async () => {
    await addRequests(3);
    await addRequests(1, { externalUserId: '=1+1', statusCode: 404 });
    const { text: list } = await visitor.get(`${PATH}?outcome=success&period=24h`);
    const ndjson = await visitor.get(linkTo('Export as NDJSON', list));
    expect(ndjson.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    // Files of several organizations and periods can be told apart.
    expect(ndjson.headers.get('content-disposition')).toMatch(
      /^attachment; filename="test-organization-request-logs-production-from-\d{4}-\d\d-\d\d-to-\d{4}-\d\d-\d\d\.ndjson"$/,
    );
    const users = ndjson.text
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { external_user_id: string }).external_user_id);
    expect(users).toEqual(['user-3', 'user-2', 'user-1']);
    const csv = await visitor.get(`${PATH}/export/csv`);
    expect(csv.text.split('\n')[0]).toMatch(
      /^id,type,datetime,.*,tool,agent,error_code,error_message,request_id,api_key\r?$/,
    );
    expect(csv.text).toContain(",'=1+1,");
    const entries = await service.database.query(
      `SELECT target_environment, outcome FROM audit_log WHERE action = 'request_log.export'`,
    );
    expect(entries).toEqual(Array(2).fill({ target_environment: 'production', outcome: 'success' }));
  });

  it('ends after the 10,000 newest entries', async () => {
    await service.database.query(
      `INSERT INTO request_log (client_id, environment, created_at, type, method, path, status_code, latency_ms)
       SELECT $1, 'production', now() - number * interval '1 second', 'request', 'POST', '/' || number, 200, 1
         FROM generate_series(1, 10001) number`,
      [production.clientId],
    );
    const { text } = await visitor.get(`${PATH}/export/csv`);
    const lines = text.trim().split('\n');
    expect(lines).toHaveLength(10_001);
    expect(lines.at(-1)).toContain('/10000,');
    expect((await visitor.get(PATH)).text).toContain('The newest 10,000 entries.');
  });

  describe('of an organization', () => {
    /** A response whose body arrives only as far as it is read. */
    const open = (login: Login, format = 'ndjson'): Promise<Response> =>
      fetch(`${service.baseUrl}${PATH}/export/${format}`, { headers: { cookie: login.cookie } });
    const linesOf = async (response: Response): Promise<number> =>
      (await response.text()).trim().split('\n').length;
    const addMany = (rows: number): Promise<unknown> =>
      service.database.query(
        `INSERT INTO request_log (client_id, environment, created_at, type, method, path, status_code, latency_ms, error_message)
         SELECT $1, 'production', now() - number * interval '1 second', 'request', 'POST', '/', 400, 1, repeat('x', 500)
           FROM generate_series(1, $2::integer) number`,
        [production.clientId, rows],
      );

    it('runs twice at a time, from its request until its client has received it or gone away', async () => {
      await addMany(10_000);
      const { login } = visitor;
      const other = await service.login('owner', (await service.anotherOrganization()).id);
      const begun = [await open(login), await open(login)];
      const refused = await open(login, 'csv');
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
      const page = await refused.text();
      expect(page).toContain('Two downloads of your organization are running.');
      expect(page).toContain(`<a href="${PATH}/export/csv">Try again</a>`);
      expect((await open(other)).status).toBe(200);

      // One is received, and the client of the other goes away.
      expect(await linesOf(begun[0]!)).toBe(10_000);
      await begun[1]!.body?.cancel();
      await eventually('both places are free', async () => {
        const again = [await open(login), await open(login)];
        await Promise.all(again.map((each) => each.body?.cancel()));
        return again.every(({ status }) => status === 200);
      });
    });

    it('is free again after an export that was refused', async () => {
      for (let count = 0; count < 5; count += 1)
        expect((await visitor.get(`${PATH}/export/xls`)).status).toBe(400);
      expect((await visitor.get(`${PATH}/export/csv`)).status).toBe(200);
    });

    it('is finished although its other queries fill the queue, and the database is busy for a while', async () => {
      await addMany(10_000);
      const store = service.app.get(RequestLogRepository);
      const newest = store.newest.bind(store);
      const queries = service.app.get(OrganizationQueryQueue);
      const flood = async (): Promise<void> => {
        const others = Array.from({ length: 5 }, () =>
          queries.run(visitor.login.organizationId, () => pause(20)),
        );
        await Promise.allSettled(others);
      };
      let isOver = false;
      const flooding = (async () => {
        while (!isOver) await flood();
      })();
      let pages = 0;
      store.newest = (...values) => {
        pages += 1;
        if (pages === 3) return Promise.reject(REQUEST_LOG_QUERY_TIMEOUT.error());
        if (pages === 5) return Promise.reject(Object.assign(new Error('shutting down'), { code: '57P01' }));
        return newest(...values);
      };
      // The first page may be refused, which the status says.
      let response = await open(visitor.login);
      while (response.status === 429) response = await open(visitor.login);
      expect([response.status, await linesOf(response)]).toEqual([200, 10_000]);
      isOver = true;
      store.newest = newest;
      await flooding;
    });
  });

  it('interrupts a download whose query fails', async () => {
    await addRequests(1_500);
    const store = service.app.get(RequestLogRepository);
    const newest = store.newest.bind(store);
    let queries = 0;
    store.newest = (...values) => {
      queries += 1;
      return queries > 1 ? Promise.reject(new Error('The database is gone')) : newest(...values);
    };
    await expect(visitor.get(`${PATH}/export/csv`)).rejects.toThrow();
    store.newest = newest;
    expect(queries).toBe(2);
  });

  it('explains parameters that are not valid', async () => {
    const { status, text } = await visitor.get(`${PATH}/export/xls`);
    expect(status).toBe(400);
    expect(text).toContain('Allowed values: csv, ndjson.');
  });
});
