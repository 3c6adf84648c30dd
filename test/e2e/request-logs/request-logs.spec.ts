import { randomUUID } from 'node:crypto';
import { DAY, HOUR } from '../../../src/infrastructure/time/index.js';
import { CursorCodec } from '../../../src/infrastructure/crypto/index.js';
import type { IssuedCredentials } from '../../../src/modules/api-clients/index.js';
import { stopClock } from '../../support/clock.js';
import { accessToken } from '../../support/logins/device-flow.js';
import { whileLogIsLocked } from '../../support/database/locked-log.js';
import { CREATE_MCP_TOKEN, UNKNOWN_ID } from '../../support/documents/operations.js';
import {
  fillRequestLog,
  loggedAttempt,
  loggedRequest,
  type EntryChange,
} from '../../support/logs/request-log-entries.js';
import { issueServiceToken } from '../../support/logins/service-tokens.js';
import {
  alteredCursors,
  error,
  invalidField,
  useTestApp,
  type TestResponse,
  type RequestOptions,
  INVALID_CURSOR,
  MISMATCH,
  useLogin,
} from '../../support/test-app.js';

const NOW = new Date('2026-01-31T12:00:00.500Z');
const SESSION = 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584';
const NOT_FOUND = error(
  'REQUEST_LOG_ERROR',
  'REQUEST_LOG_NOT_FOUND',
  'There is no request log entry with this ID.',
);
const TIMEOUT = error(
  'REQUEST_LOG_ERROR',
  'REQUEST_LOG_QUERY_TIMEOUT',
  'The query took too long. Shorten the period between start and end, or filter by session, task, user, event or status code.',
);
const ENTRY_TIMEOUT = { ...TIMEOUT, error_message: 'The query took too long. Retry later.' };

interface Entry {
  readonly id: number;
  readonly datetime: string;
  readonly external_user_id: string | null;
  readonly api_key: string | null;
}
interface Page {
  readonly data: readonly Entry[];
  readonly next_cursor: string | null;
  readonly limit: number;
}
type Query = Readonly<Record<string, string>>;

const service = useTestApp({
  TRUSTED_PROXY_HOPS: '1',
  REQUEST_LOG_QUERY_TIMEOUT_MS: '300',
});
const member = useLogin(service, 'member');
let otherOrganization: { production: IssuedCredentials; token: string };
/** An access token of the member for production. */
let token: string;
let developmentToken: string;

beforeAll(async () => {
  token = await accessToken(service, member, service.production, 'request_logs:read');
  developmentToken = await accessToken(service, member, service.development);
  const { id, production } = await service.anotherOrganization();
  const otherToken = await accessToken(service, await service.login('owner', id), production);
  otherOrganization = { production, token: otherToken };
});
beforeEach(() => service.database.query('DELETE FROM request_log'));

const list = (query: Query = {}, as: RequestOptions = { token }): Promise<TestResponse<Page>> =>
  service.request<Page>(`/request-logs?${new URLSearchParams({ environment: 'production', ...query })}`, as);
const get = (id: number | string, as: RequestOptions = { token }): Promise<TestResponse> =>
  service.request(`/request-logs/${id}`, as);
const logRequests = (...changes: EntryChange[]): Promise<void> =>
  fillRequestLog(
    service,
    changes.map((change) => loggedRequest(service.production, change)),
  );
/** The fields of entries that were written without a sender. */
const NO_CALLER = { secret_version: null, ip_address: null, user_agent: null };
const before = (milliseconds: number, end = NOW): Date => new Date(end.getTime() - milliseconds);
const seconds = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`;

/** Creates requests whose users are named by their number. The last one is the newest. */
async function numbered(count: number): Promise<string[]> {
  await logRequests(
    ...Array.from({ length: count }, (_, index) => ({
      createdAt: before(HOUR - Math.floor(index / 3)),
      externalUserId: `user ${index}`,
    })),
  );
  return Array.from({ length: count }, (_, index) => `user ${count - 1 - index}`);
}

async function at<T>(time: Date, work: () => Promise<T>): Promise<T> {
  using _clock = stopClock(service, time);
  return await work();
}

describe('GET /request-logs', () => {
  it('lists API requests and webhook delivery attempts together', async () => {
    const { status } = await service.request(CREATE_MCP_TOKEN.path, {
      body: { external_user_id: 'user-8' },
      as: service.production,
    });
    expect(status).toBe(200);
    const earlier = before(1_000, new Date());
    const logged = loggedAttempt(service.production, { createdAt: earlier });
    await fillRequestLog(service, [logged]);
    const { status: listed, body } = await list();
    expect(listed).toBe(200);
    expect(body).toEqual({
      data: [
        {
          id: expect.any(Number),
          type: 'request',
          datetime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          method: 'POST',
          path: '/mcp/tokens/create',
          url: null,
          event: null,
          status_code: 200,
          latency_ms: expect.any(Number),
          session_id: null,
          task_id: null,
          external_user_id: 'user-8',
          tool: null,
          agent: null,
          api_key: null,
          error_code: null,
          error_message: null,
          request_id: expect.any(String),
          endpoint_id: null,
          event_id: null,
          reason: null,
        },
        {
          id: expect.any(Number),
          type: 'webhook',
          datetime: earlier.toISOString(),
          method: 'POST',
          path: null,
          url: 'https://hooks.example.com/merchants?token=***',
          event: 'CARD_UPDATED',
          status_code: 503,
          latency_ms: 84,
          session_id: SESSION,
          task_id: 25_605,
          external_user_id: 'user-1',
          tool: null,
          agent: null,
          api_key: null,
          error_code: null,
          error_message: null,
          request_id: null,
          endpoint_id: logged.attempt?.endpointId,
          event_id: logged.attempt?.eventId,
          reason: 'NON_200',
        },
      ],
      next_cursor: null,
      limit: 25,
    });
  });

  it('says why a request failed, and finds it by its error code and its request ID', async () => {
    const requestId = `request-${randomUUID()}`;
    const create = (body: object, headers = {}) =>
      service.request(CREATE_MCP_TOKEN.path, { body, headers, as: service.production });
    const { body: response } = await create({}, { 'X-Request-Id': requestId });
    await create({ external_user_id: 'user-9' });
    expect(response).toMatchObject({ error_code: 'INVALID_FIELD' });
    const failure = {
      status_code: 400,
      error_code: 'INVALID_FIELD',
      error_message: response['error_message'],
      request_id: requestId,
    };
    const filters: Record<string, string>[] = [{ request_id: requestId }, { error_code: 'INVALID_FIELD' }];
    for (const filter of filters) {
      const { status, body }: TestResponse<Page> = await list(filter);
      expect([status, body.data.length > 0]).toEqual([200, true]);
      expect(body.data[0]).toMatchObject(failure);
    }
    const { body: none }: TestResponse<Page> = await list({ error_code: 'CONFLICT_THAT_DOES_NOT_EXIST' });
    expect(none).toMatchObject({ error_code: 'INVALID_FIELD' });
    const other: TestResponse<Page> = await list({ request_id: 'another' });
    expect(other.body.data).toEqual([]);
  });

  it('finds the requests of an API key, and says who sent one', async () => {
    const caller = { apiKey: 'Orders', ip: '203.0.113.7', userAgent: 'orders/1.2' };
    await fillRequestLog(service, [
      loggedRequest(service.production, { createdAt: before(2_000, new Date()), ...caller }),
      loggedRequest(service.production, { createdAt: before(1_000, new Date()), secretVersion: 3 }),
    ]);
    const { body }: TestResponse<Page> = await list({ api_key: 'Orders' });
    expect(body.data.map(({ api_key: key }) => key)).toEqual(['Orders']);
    const { body: all }: TestResponse<Page> = await list();
    const [newest, oldest] = await Promise.all(all.data.map(({ id }) => get(id)));
    expect(newest?.body).toMatchObject({
      secret_version: 3,
      api_key: null,
      ip_address: null,
      user_agent: null,
    });
    expect(oldest?.body).toMatchObject({
      secret_version: null,
      api_key: 'Orders',
      ip_address: '203.0.113.7',
      user_agent: 'orders/1.2',
    });
  });

  it('pages without gaps or duplicates, for any page size', async () => {
    const expected = await numbered(60);
    await at(NOW, async () => {
      const sizes = ['25', '7', '50', '1', '3'];
      const users: (string | null)[] = [];
      let cursor: string | null = null;
      do {
        const limit = sizes.shift() ?? '50';
        const { status, body }: TestResponse<Page> = await list({
          limit,
          ...(cursor === null ? {} : { cursor }),
        });
        expect([status, body.limit]).toEqual([200, Number(limit)]);
        users.push(...body.data.map(({ external_user_id }) => external_user_id));
        cursor = body.next_cursor;
        // Entries that are written meanwhile come before the first page.
        await logRequests({ createdAt: NOW, externalUserId: 'late' });
      } while (cursor !== null);
      expect(users).toEqual(expected);
    });
  });

  it('returns a cursor only if there is a next page', async () => {
    await numbered(25);
    await at(NOW, async () => {
      expect((await list()).body.next_cursor).toBeNull();
      expect((await list({ limit: '24' })).body.next_cursor).not.toBeNull();
      expect((await list({ limit: '50' })).body.data).toHaveLength(25);
    });
  });

  it('returns an empty list if nothing was logged', async () => {
    expect((await list()).body).toEqual({ data: [], next_cursor: null, limit: 25 });
  });

  it('shows both environments to a logged-in user', async () => {
    await numbered(2);
    await fillRequestLog(service, [
      loggedRequest(service.development, { createdAt: before(HOUR), externalUserId: 'developer' }),
    ]);
    await at(NOW, async () => {
      const users = async (environment: string, as: RequestOptions): Promise<unknown> =>
        (await list({ environment }, as)).body.data.map(({ external_user_id }) => external_user_id);
      expect(await users('production', { login: member })).toEqual(['user 1', 'user 0']);
      expect(await users('development', { login: member })).toEqual(['developer']);
      expect(await users('development', { token: developmentToken })).toEqual(['developer']);
    });
  });

  it('never shows entries of another organization', async () => {
    await numbered(3);
    await fillRequestLog(service, [loggedRequest(otherOrganization.production, { createdAt: before(HOUR) })]);
    await at(NOW, async () => {
      expect((await list()).body.data).toHaveLength(3);
      expect((await list({}, { token: otherOrganization.token })).body.data).toHaveLength(1);
    });
  });

  it('requires an access token of the same environment', async () => {
    for (const query of [{}, { cursor: 'x' }] as Query[]) {
      const { status, body } = await list({ environment: 'development', ...query });
      expect([status, body]).toEqual([403, MISMATCH]);
    }
    const { status, body } = await list({}, { token: developmentToken });
    expect([status, body]).toEqual([403, MISMATCH]);
  });

  it('cancels a query that exceeds the timeout', async () => {
    await numbered(1);
    await whileLogIsLocked(service.database, async () => {
      const { status, body } = await list();
      expect([status, body]).toEqual([504, TIMEOUT]);
      const one = await get(1);
      expect([one.status, one.body]).toEqual([504, ENTRY_TIMEOUT]);
    });
    expect((await list()).status).toBe(200);
  });

  it('cancels the query of GET /events/{id} that exceeds the timeout', async () => {
    const { token: publisher } = await issueServiceToken(service, ['events:publish']);
    const { body: published } = await service.request<{ event_id: string }>('/events', {
      body: {
        client_id: service.production.clientId,
        event: 'MERCHANT_STATUS_UPDATE',
        merchant_id: 16,
        data: { type: 'link', status: 'DOWN' },
      },
      token: publisher,
    });
    await whileLogIsLocked(service.database, async () => {
      const { status, body } = await service.request(`/events/${published.event_id}`, {
        token: publisher,
      });
      expect([status, body]).toEqual([504, ENTRY_TIMEOUT]);
    });
  });
});

describe('Filters of GET /request-logs', () => {
  const OTHER_SESSION = UNKNOWN_ID;
  const [ENDPOINT, EVENT] = ['2f8f0d3b-5c11-4a4e-9a57-c7d1a3b26a7e', '2f6f0a1f-9c55-4f43-9b1d-c1a8d2b46f0e'];
  const ATTEMPT = {
    endpointId: UNKNOWN_ID,
    eventId: UNKNOWN_ID,
    number: 1,
    reason: 'NON_200',
    phases: { dns: null, connect: null, tls: null, firstByte: null },
  };

  beforeEach(async () => {
    const { production } = service;
    await fillRequestLog(service, [
      loggedRequest(production, { createdAt: before(9), externalUserId: 'a' }),
      loggedRequest(production, { createdAt: before(8), externalUserId: 'b', statusCode: 404 }),
      loggedRequest(production, { createdAt: before(7), sessionId: SESSION, externalUserId: 'c' }),
      loggedAttempt(production, {
        createdAt: before(6),
        externalUserId: 'd',
        event: 'AUTHENTICATED',
        attempt: { ...ATTEMPT, endpointId: ENDPOINT },
      }),
      loggedAttempt(production, {
        createdAt: before(5),
        externalUserId: 'e',
        statusCode: 200,
        taskId: 7,
        attempt: { ...ATTEMPT, endpointId: ENDPOINT, eventId: EVENT, reason: null },
      }),
      loggedAttempt(production, { createdAt: before(4), externalUserId: 'f', sessionId: OTHER_SESSION }),
      loggedAttempt(production, { createdAt: before(3), externalUserId: 'ä b&c', statusCode: 0 }),
    ]);
  });

  it.each<[Query, string[]]>([
    [{}, ['ä b&c', 'f', 'e', 'd', 'c', 'b', 'a']],
    [{ type: 'request' }, ['c', 'b', 'a']],
    [{ type: 'webhook' }, ['ä b&c', 'f', 'e', 'd']],
    [{ session_id: SESSION }, ['ä b&c', 'e', 'd', 'c']],
    [{ session_id: SESSION.toUpperCase() }, ['ä b&c', 'e', 'd', 'c']],
    [{ session_id: OTHER_SESSION }, ['f']],
    [{ task_id: '7' }, ['e']],
    [{ task_id: '007' }, ['e']],
    [{ task_id: '25605' }, ['ä b&c', 'f', 'd']],
    [{ task_id: '-1' }, []],
    [{ external_user_id: 'a' }, ['a']],
    [{ external_user_id: 'A' }, []],
    [{ external_user_id: 'ä b&c' }, ['ä b&c']],
    [{ event: 'AUTHENTICATED' }, ['d']],
    [{ event: 'NO_SUCH_EVENT' }, []],
    [{ status_code: '200' }, ['e', 'c', 'a']],
    [{ status_code: '404' }, ['b']],
    [
      { session_id: SESSION, task_id: '7', type: 'webhook', external_user_id: 'e', status_code: '200' },
      ['e'],
    ],
    [{ status_code: '0' }, ['ä b&c']],
    [{ endpoint_id: ENDPOINT }, ['e', 'd']],
    [{ endpoint_id: ENDPOINT.toUpperCase() }, ['e', 'd']],
    [{ event_id: EVENT }, ['e']],
    [{ event_id: EVENT.toUpperCase(), type: 'webhook' }, ['e']],
    [{ outcome: 'success' }, ['e', 'c', 'a']],
    [{ outcome: 'failure' }, ['ä b&c', 'f', 'd', 'b']],
  ])('list the entries that match %j', async (query, users) => {
    await at(NOW, async () => {
      const { status, body } = await list(query);
      expect(status).toBe(200);
      expect(body.data.map(({ external_user_id }) => external_user_id)).toEqual(users);
    });
  });

  const TOO_LONG = 'The start field must be at most 7 days before the end field.';
  const REVERSED = 'The start field must not be after the end field.';
  it.each<[string, string]>([
    ['type=call', 'The selected type is invalid. Allowed values: request, webhook.'],
    ['session_id=session-1', 'The session id field must be a UUID.'],
    ['task_id=one', 'The task id field must be an integer.'],
    ['task_id=1.0', 'The task id field must be an integer.'],
    ['task_id=1e3', 'The task id field must be an integer.'],
    ['task_id=9007199254740992', 'The task id field must be an integer.'],
    [
      `external_user_id=${'x'.repeat(257)}`,
      'The external user id field must not be greater than 256 characters.',
    ],
    [
      'external_user_id=%00',
      'The external user id field must not contain null characters or unpaired surrogates.',
    ],
    [`event=${'x'.repeat(101)}`, 'The event field must not be greater than 100 characters.'],
    ...[
      'start',
      'end',
      'type',
      'session_id',
      'task_id',
      'external_user_id',
      'event',
      'status_code',
      'endpoint_id',
      'event_id',
      'outcome',
      'limit',
      'cursor',
    ].flatMap((name): [string, string][] =>
      ['', '%20'].map((blank) => [`${name}=${blank}`, `The query parameter ${name} must not be blank.`]),
    ),
    ['endpoint_id=endpoint-1', 'The endpoint id field must be a UUID.'],
    ['event_id=1', 'The event id field must be a UUID.'],
    ['outcome=failed', 'The selected outcome is invalid. Allowed values: success, failure.'],
    ['status_code=1', 'The status code field must be at least 100.'],
    ['status_code=-1', 'The status code field must be at least 0.'],
    ['status_code=99', 'The status code field must be at least 100.'],
    ['status_code=600', 'The status code field must not be greater than 599.'],
    ['status_code=2xx', 'The status code field must be an integer.'],
    ['limit=0', 'The limit field must be at least 1.'],
    ['limit=51', 'The limit field must not be greater than 50.'],
    ['limit=-0x1', 'The limit field must be an integer.'],
    ['page=2', 'The query parameter page is not known.'],
    ['type=request&type=webhook', 'The query parameter type is given more than once.'],
    ['start=yesterday&type=call', 'The start field must be a date and time such as 2026-01-31T08:15:30Z.'],
    ['end=2026-02-31T00:00:00Z', 'The end field must be a date and time such as 2026-01-31T08:15:30Z.'],
    ['start=2026-01-02T00:00:00Z&end=2026-01-01T00:00:00Z&type=call', REVERSED],
    ['start=2026-01-01T00:00:00Z&end=2026-01-08T00:00:01Z', TOO_LONG],
    ['start=2026-01-01T00:00:00+00:00&end=2026-01-08T05:30:01%2B05:30', TOO_LONG],
    ['start=2026-01-02T00:00:00-05:00&end=2026-01-02T05:59:59%2B01:00', REVERSED],
    ['start=2026-01-01T00:00:00Z', TOO_LONG],
    ['start=2099-01-01T00:00:00Z', REVERSED],
  ])('reject %s', async (query, message) => {
    const path = `/request-logs?environment=production&${query}`;
    const { status, body } = await service.request(path, { token });
    expect([status, body]).toEqual([400, invalidField(message)]);
  });

  it.each([
    ['', 'The environment field is required.'],
    ['environment=', 'The environment field is required.'],
    ['environment=staging', 'The selected environment is invalid. Allowed values: development, production.'],
  ])('require an environment: %s', async (query, message) => {
    const { status, body } = await service.request(`/request-logs?${query}`, { token });
    expect([status, body]).toEqual([400, invalidField(message)]);
  });
});

describe('Period of GET /request-logs', () => {
  const ages = [0, 500, DAY - 500, DAY, DAY + 1, DAY + 500, 7 * DAY, 7 * DAY + 1];

  beforeEach(() =>
    logRequests(...ages.map((age) => ({ createdAt: before(age), externalUserId: String(age) }))),
  );

  it.each<[Query, number[]]>([
    [{}, [0, 500, DAY - 500, DAY]],
    [{ end: seconds(NOW) }, [500, DAY - 500, DAY, DAY + 1, DAY + 500]],
    [{ start: seconds(before(DAY)) }, [0, 500, DAY - 500, DAY, DAY + 1, DAY + 500]],
    [{ start: before(7 * DAY).toISOString() }, ages.slice(0, 7)],
    [{ start: seconds(before(7 * DAY)), end: seconds(NOW) }, ages.slice(1, 8)],
    [{ start: before(500).toISOString(), end: before(500).toISOString() }, [500]],
    [{ end: '2099-01-01T00:00:00Z' }, []],
    [{ start: seconds(NOW), end: '2026-02-03T00:00:00Z' }, [0, 500]],
    [{ end: '0001-01-01T00:00:00Z' }, []],
  ])('selects the entries of %j', async (query, expected) => {
    await at(NOW, async () => {
      const { status, body } = await list(query);
      expect(status).toBe(200);
      expect(body.data.map(({ external_user_id }) => Number(external_user_id))).toEqual(expected);
    });
  });

  it('stays the same on all pages, however much time passes', async () => {
    const walked = await at(NOW, () => list({ limit: '2' }));
    const { body } = await at(before(-5 * DAY), () =>
      list({ limit: '50', cursor: walked.body.next_cursor ?? '' }),
    );
    expect(body.data.map(({ external_user_id }) => Number(external_user_id))).toEqual([DAY - 500, DAY]);
    const withStart = { start: seconds(before(6 * DAY)) };
    const first = await at(NOW, () => list({ ...withStart, limit: '5' }));
    const next = await at(before(-5 * DAY), () =>
      list({ ...withStart, cursor: first.body.next_cursor ?? '' }),
    );
    expect(next.body.data.map(({ external_user_id }) => Number(external_user_id))).toEqual([DAY + 500]);
  });
});

describe('Cursors of GET /request-logs', () => {
  const BOUNDS = { start: '2026-01-31T00:00:00Z', end: '2026-01-31T23:00:00Z' };
  const ALL = {
    ...BOUNDS,
    type: 'request',
    session_id: SESSION,
    task_id: '7',
    external_user_id: 'user',
    event: 'CARD_UPDATED',
    status_code: '200',
    endpoint_id: UNKNOWN_ID,
    event_id: UNKNOWN_ID,
    outcome: 'success',
  };
  let cursor: string;
  let bounded: string;
  let clock: Disposable;

  beforeEach(async () => {
    await numbered(30);
    clock = stopClock(service, NOW);
    cursor = (await list()).body.next_cursor ?? '';
    bounded = (await list(BOUNDS)).body.next_cursor ?? '';
  });
  afterEach(() => clock[Symbol.dispose]());

  const expectRefused = async (query: Query, as?: RequestOptions): Promise<void> => {
    const { status, body } = await list(query, as);
    expect([query, status, body]).toEqual([query, 400, INVALID_CURSOR]);
  };

  it('are valid only with the same parameters', async () => {
    expect((await list({ cursor })).body.data).toHaveLength(5);
    expect((await list({ ...BOUNDS, cursor: bounded })).body.data).toHaveLength(5);
    const spelled = { start: '2026-01-31T00:00:00.000Z', end: BOUNDS.end };
    expect((await list({ ...spelled, cursor: bounded })).body.data).toHaveLength(5);
    await expectRefused({ cursor: bounded });
    await expectRefused({ start: BOUNDS.start, cursor: bounded });
    await expectRefused({ end: BOUNDS.end, cursor: bounded });
    await expectRefused({ ...BOUNDS, cursor });
    await expectRefused({ ...BOUNDS, end: '2026-01-31T22:59:59Z', cursor: bounded });
    for (const [name, value] of Object.entries(ALL)) {
      if (name in BOUNDS) continue;
      await expectRefused({ [name]: value, cursor });
    }
  });

  it('of the previous release stay valid', async () => {
    const [last] = (await list()).body.data.slice(-1);
    const position = [NOW.getTime(), Date.parse(String(last?.datetime)), Number(last?.id)];
    const { clientId } = service.production;
    const scope = ['request_logs', clientId, 'production', ...Array<undefined>(8)];
    const previous = service.app.get(CursorCodec).encode(position, scope);
    expect((await list({ cursor: previous })).body.data).toHaveLength(5);
  });

  it('are valid only with the same filters', async () => {
    const entries = Array.from({ length: 3 }, () =>
      loggedAttempt(service.production, {
        createdAt: before(HOUR),
        statusCode: 500,
        attempt: {
          endpointId: UNKNOWN_ID,
          eventId: UNKNOWN_ID,
          number: 1,
          reason: 'NON_200',
          phases: { dns: null, connect: null, tls: null, firstByte: null },
        },
      }),
    );
    await fillRequestLog(service, entries);
    const filters: Query[] = [
      { type: 'webhook' },
      { session_id: SESSION },
      { task_id: '25605' },
      { external_user_id: 'user-1' },
      { event: 'CARD_UPDATED' },
      { status_code: '500' },
      { endpoint_id: UNKNOWN_ID },
      { event_id: UNKNOWN_ID },
      { outcome: 'failure' },
    ];
    const cursors: string[] = [];
    for (const filter of filters)
      cursors.push((await list({ ...filter, limit: '1' })).body.next_cursor ?? '');
    for (const [index, filter] of filters.entries()) {
      for (const [other, each] of cursors.entries()) {
        if (index === other) expect((await list({ ...filter, cursor: each })).body.data).toHaveLength(2);
        else await expectRefused({ ...filter, cursor: each });
      }
    }
  });

  it('are valid only for the same client and environment', async () => {
    const others: RequestOptions[] = [{ token: otherOrganization.token }];
    for (const as of others) await expectRefused({ cursor }, as);
    await expectRefused({ environment: 'development', cursor }, { token: developmentToken });
    await expectRefused({ environment: 'development', cursor }, { login: member });
    // The same client, with other credentials.
    expect((await list({ cursor }, { login: member })).body.data).toHaveLength(5);
    const { body } = await service.request<Page>('/audit_logs', { as: service.production });
    if (body.next_cursor) await expectRefused({ cursor: body.next_cursor });
  });

  it('are rejected if they are malformed or altered', async () => {
    for (const altered of alteredCursors(cursor)) await expectRefused({ cursor: altered });
  });
});

describe('GET /request-logs/:id', () => {
  async function added(entries: Parameters<typeof fillRequestLog>[1]): Promise<number[]> {
    await fillRequestLog(service, entries);
    const rows = await service.database.query<{ id: string }>('SELECT id FROM request_log ORDER BY id');
    return rows.map(({ id }) => Number(id));
  }

  it('returns the entry, with details of the attempt for webhooks', async () => {
    const attempt = loggedAttempt(service.production, { createdAt: before(HOUR) });
    const responseBody = '{"error":"ä"}';
    Object.assign(attempt.attempt ?? {}, { responseBody });
    const [request = 0, delivery = 0] = await added([
      loggedRequest(service.production, { createdAt: before(2 * HOUR), externalUserId: 'a' }),
      attempt,
    ]);
    const { body: page } = await at(NOW, () => list());
    expect((await get(request)).body).toEqual({
      ...page.data[1],
      ...NO_CALLER,
      delivery: null,
      response_body: null,
    });
    expect((await get(delivery)).body).toEqual({
      ...page.data[0],
      delivery: {
        webhook_endpoint_id: attempt.attempt?.endpointId,
        event_id: attempt.attempt?.eventId,
        attempt: 2,
        reason: 'NON_200',
        dns_ms: 1,
        connect_ms: 11,
        tls_ms: null,
        first_byte_ms: 48,
      },
      ...NO_CALLER,
      response_body: responseBody,
    });
    for (const entry of page.data) expect(entry).not.toHaveProperty('response_body');
  });

  it('does not find entries of another organization or environment', async () => {
    const { production, development } = service;
    const [own = 0, developed = 0, foreign = 0] = await added([
      loggedRequest(production, { createdAt: before(HOUR) }),
      loggedRequest(development, { createdAt: before(HOUR) }),
      loggedRequest(otherOrganization.production, { createdAt: before(HOUR) }),
    ]);
    const statuses = async (as: RequestOptions): Promise<number[]> => {
      const responses = await Promise.all([own, developed, foreign].map((id) => get(id, as)));
      for (const { status, body } of responses) if (status !== 200) expect(body).toEqual(NOT_FOUND);
      return responses.map(({ status }) => status);
    };
    expect(await statuses({ token })).toEqual([200, 404, 404]);
    expect(await statuses({ token: developmentToken })).toEqual([404, 200, 404]);
    expect(await statuses({ login: member })).toEqual([200, 200, 404]);
    expect(await statuses({ token: otherOrganization.token })).toEqual([404, 404, 200]);
  });

  it.each([
    '0',
    '-1',
    '1.5',
    '1e3',
    '0x1',
    'first',
    '%20',
    '%00',
    '9'.repeat(16),
    '9'.repeat(30),
    UNKNOWN_ID,
  ])('returns 404 for %s', async (id) => {
    const { status, body } = await get(id);
    expect([status, body]).toEqual([404, NOT_FOUND]);
  });
});
