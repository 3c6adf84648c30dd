import { ApiKeysService } from '../../../src/modules/api-keys/index.js';
import {
  CREATE_MCP_TOKEN,
  DASHBOARD_OPERATIONS,
  ERASE_EXTERNAL_USER,
  FIND_USER_ERASURE,
  GET_USER_ERASURE,
  LIST_SIGN_IN_LINKS,
  OPERATIONS,
  SEARCH_DETECTED_ACCOUNTS,
  SESSION_OPERATIONS,
  UNLINK_ACCOUNT,
  UNKNOWN_ID,
  type TestedOperation,
} from '../../support/documents/operations.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { issueServiceToken } from '../../support/logins/service-tokens.js';
import { countOf, error, useTestApp, type TestResponse, type TestApp } from '../../support/test-app.js';
import { BEHIND_PROXY, visitorWithRole } from '../../support/pages/visitor.js';

const { path: PATH, body: BODY } = CREATE_MCP_TOKEN;

const TOO_LARGE = { external_user_id: 'x'.repeat(600_000) };

/** Returns the requests that remain according to the response, and checks the headers about the limit. */
function remainingIn({ status, headers }: TestResponse, name: string, limit: number, seconds = 60): number {
  expect(headers.get('ratelimit-policy')).toBe(`"${name}";q=${limit};w=${seconds}`);
  const [, named, remaining, reset] =
    /^"([\w-]+)";r=(\d+);t=(\d+)$/.exec(headers.get('ratelimit') ?? '') ?? [];
  expect(named).toBe(name);
  expect(Number(reset)).toBeGreaterThanOrEqual(1);
  expect(Number(reset)).toBeLessThanOrEqual(seconds);
  if (status === 429) expect([remaining, reset]).toEqual(['0', headers.get('retry-after')]);
  return Number(remaining);
}

describe('Rate limit of POST /mcp/tokens/create', () => {
  const service = useTestApp();

  /** Sends concurrent requests with these bodies in turn. */
  const sendConcurrently = (count: number, bodies: readonly unknown[] = [BODY], as = service.development) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        service.request(PATH, { body: bodies[index % bodies.length], as }),
      ),
    );

  function expectTooManyRequests({ status, headers, body }: TestResponse): void {
    expect(status).toBe(429);
    const retryAfter = Number(headers.get('retry-after'));
    expect(Number.isInteger(retryAfter)).toBe(true);
    expect(retryAfter).toBeGreaterThanOrEqual(1);
    expect(retryAfter).toBeLessThanOrEqual(60);
    expect(body).toEqual({
      ...error(
        'RATE_LIMIT_ERROR',
        'TOO_MANY_REQUESTS',
        'Too many requests. Retry after the time in the Retry-After header.',
      ),
      retry_after: retryAfter,
    });
  }

  it('allows exactly 600 requests, including failed and concurrent ones', async () => {
    const first: TestResponse[] = [];
    first.push(...(await sendConcurrently(50, [BODY, {}, 'not json', TOO_LARGE, BODY])));
    for (let round = 1; round < 10; round += 1) {
      first.push(...(await sendConcurrently(50, [BODY, {}, 'not json', [], BODY])));
    }
    expect([200, 400, 413].map((status) => countOf(first, status))).toEqual([200, 290, 10]);

    // Requests without valid credentials belong to no client and are not counted.
    const wrong = { ...service.development, secret: 'wrong' };
    expect(countOf(await sendConcurrently(20, [BODY], wrong), 401)).toBe(20);

    const last = await sendConcurrently(150);
    expect(countOf(last, 200)).toBe(100);
    const refused = last.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(50);
    for (const response of refused) expectTooManyRequests(response);
  });

  it('tells in every response how many requests remain', async () => {
    const as = (await service.anotherOrganization()).development;
    const remaining: number[] = [];
    for (const body of [BODY, {}, 'not json', TOO_LARGE, BODY])
      remaining.push(remainingIn(await service.request(PATH, { body, as }), 'mcp-tokens', 600));
    expect(remaining).toEqual([599, 598, 597, 596, 595]);
    const together = await sendConcurrently(20, [BODY], as);
    const rest = together.map((response) => remainingIn(response, 'mcp-tokens', 600));
    expect(new Set(rest)).toEqual(new Set(Array.from({ length: 20 }, (_, index) => 594 - index)));
    // The client is not known before its credentials have been checked.
    const { status, headers } = await service.request(PATH, { body: BODY, as: { ...as, secret: 'wrong' } });
    expect([status, headers.has('ratelimit')]).toEqual([401, false]);
  });

  it('refuses requests over the limit before it reads the body', async () => {
    for (const body of [BODY, {}, 'not json', TOO_LARGE]) {
      expectTooManyRequests(await service.request(PATH, { body, as: service.development }));
    }
  });

  it('checks the credentials first', async () => {
    const response = await service.request(PATH, {
      body: BODY,
      as: { ...service.development, secret: 'wrong' },
    });
    expect(response.status).toBe(401);
  });

  it('applies to each client separately, and only to this operation', async () => {
    const other = await service.anotherOrganization();
    for (const as of [service.production, other.development, other.production]) {
      expect((await service.request(PATH, { body: BODY, as })).status).toBe(200);
    }
    const { path, body } = SEARCH_DETECTED_ACCOUNTS;
    expect((await service.request(path, { body, as: service.development })).status).toBe(200);
  });
});

// The following blocks start an application each, because in one process only the application that started last can
// use its database in every way.
describe('Rate limit of the platform API', () => {
  const service = useTestApp({ PLATFORM_REQUESTS_PER_MINUTE: '3' });

  const OTHERS = [
    'GET /merchants',
    'GET /merchant-accounts?external_user_id=user-1',
    'GET /agent-connections?external_user_id=user-1',
    `DELETE /agent-connections/${UNKNOWN_ID}`,
    `POST /sign-in-links/${UNKNOWN_ID}/cancel`,
    `GET /sign-in-links/${UNKNOWN_ID}`,
  ].map((id): TestedOperation => {
    const [method = '', path = ''] = id.split(' ');
    return { id, method, path, credentials: 'basic' };
  });
  const LIMITED: readonly TestedOperation[] = [
    ...OPERATIONS,
    ...SESSION_OPERATIONS,
    UNLINK_ACCOUNT,
    LIST_SIGN_IN_LINKS,
    ERASE_EXTERNAL_USER,
    GET_USER_ERASURE,
    FIND_USER_ERASURE,
    ...OTHERS,
  ].filter(({ credentials, hasOwnLimit }) => credentials === 'basic' && !hasOwnLimit);

  it.each(LIMITED)('applies to all operations of a client together, and refuses $id', async (operation) => {
    const { development, production } = await service.anotherOrganization();
    const as = operation.environment === 'production' ? production : development;
    const { path, body, method } = operation;
    for (const remaining of [2, 1, 0]) {
      const counted = await service.request(SEARCH_DETECTED_ACCOUNTS.path, { body: {}, as });
      expect([counted.status, remainingIn(counted, 'platform', 3)]).toEqual([400, remaining]);
    }
    const response = await service.request(path, { method, body, as });
    remainingIn(response, 'platform', 3);
    expect([response.status, response.body['error_code']]).toEqual([429, 'TOO_MANY_REQUESTS']);
    expect(response.headers.get('retry-after')).toBe(String(response.body['retry_after']));
    // Operation 1 has a limit of its own.
    expect((await service.request(PATH, { body: BODY, as })).status).toBe(200);
  });
});

describe('Requests with wrong credentials', () => {
  const service = useTestApp({
    ...BEHIND_PROXY,
    FAILED_CREDENTIALS_PER_MINUTE: '5',
    FAILED_CREDENTIALS_PER_MINUTE_AND_ADDRESS: '8',
  });

  const search = (as: TestApp['development'], address: string) =>
    service.request(SEARCH_DETECTED_ACCOUNTS.path, {
      body: SEARCH_DETECTED_ACCOUNTS.body,
      as,
      headers: { 'x-forwarded-for': address },
    });
  const flood = (as: TestApp['development'], address: string, count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, index) => search({ ...as, secret: `wrong-${index}` }, address)),
    );
  const loggedStatuses = async ({ clientId }: TestApp['development']): Promise<number[]> => {
    const rows = await service.database.query<{ status_code: number }>(
      'SELECT status_code FROM request_log WHERE client_id = $1 ORDER BY created_at, id',
      [clientId],
    );
    return rows.map(({ status_code }) => status_code).toSorted((one, other) => one - other);
  };

  it('are refused beyond the limit per client and address, with one log entry for all of them', async () => {
    const { development } = await service.anotherOrganization();
    const responses = await flood(development, '192.0.2.1', 220);
    expect([countOf(responses, 401), countOf(responses, 429)]).toEqual([5, 215]);
    for (const { headers, body } of responses.filter(({ status }) => status === 429)) {
      expect(body['error_code']).toBe('TOO_MANY_REQUESTS');
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(headers.get('ratelimit')).toMatch(/^"failed-credentials-per-(?:client|address)";r=0;t=\d+$/);
    }
    expect(await loggedStatuses(development)).toEqual([401, 401, 401, 401, 401, 429]);
  });

  it('never cause requests with the right credentials to be refused', async () => {
    const { development, production } = await service.anotherOrganization();
    const responses = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const [wrong] = await flood(development, '192.0.2.2', 1);
        const right = await search(index % 2 === 0 ? development : production, '192.0.2.2');
        return [wrong?.status, right.status];
      }),
    );
    expect(responses.map(([, right]) => right)).toEqual(Array(60).fill(200));
    expect(responses.filter(([wrong]) => wrong === 429).length).toBe(55);
  });

  it('are limited per address, whichever clients they name', async () => {
    const clients = await Promise.all(Array.from({ length: 3 }, () => service.anotherOrganization()));
    const statuses: number[] = [];
    for (const { development } of clients)
      statuses.push(...(await flood(development, '192.0.2.3', 4)).map(({ status }) => status));
    expect(statuses.filter((status) => status === 401)).toHaveLength(8);
    const [last] = await flood({ ...service.development, clientId: UNKNOWN_ID }, '192.0.2.3', 1);
    expect(last?.status).toBe(429);
    const [other] = await flood({ ...service.development, clientId: UNKNOWN_ID }, '192.0.2.4', 1);
    expect(other?.status).toBe(401);
  });

  it('are counted together for all spellings of a client ID', async () => {
    const { development } = await service.anotherOrganization();
    const spellings = spellingsOf(development.clientId, 7);
    expect(new Set(spellings).size).toBe(7);
    const responses = await Promise.all(
      spellings.map((clientId) => search({ ...development, clientId, secret: 'wrong' }, '192.0.2.6')),
    );
    expect([countOf(responses, 401), countOf(responses, 429)]).toEqual([5, 2]);
    const [right] = spellingsOf(development.clientId, 1);
    expect((await search({ ...development, clientId: right ?? '' }, '192.0.2.6')).status).toBe(200);
  });

  it.each([
    ['POST /events', 16],
    ['POST /events/batch', 18],
    ['POST /detections', 20],
    ['PUT /merchants/16/status', 22],
    ['GET /merchants/16/status', 24],
    [`GET /events/${UNKNOWN_ID}`, 26],
  ])('are limited for service tokens at %s too, and never refuse the right one', async (operation, host) => {
    const { token } = await issueServiceToken(service);
    const [method = '', path = ''] = operation.split(' ');
    const publish = (credentials: string | null, address = `192.0.2.${String(host)}`) =>
      service.request(path, {
        method,
        ...(method === 'GET' ? {} : { body: {} }),
        ...(credentials === null ? {} : { token: credentials }),
        headers: { 'x-forwarded-for': address },
      });
    const guesses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => publish(`mcs_svc_${String(index).padStart(49, 'a')}`)),
    );
    expect([countOf(guesses, 401), countOf(guesses, 429)]).toEqual([8, 12]);
    for (const { headers, body } of guesses.filter(({ status }) => status === 429)) {
      expect(body['error_code']).toBe('TOO_MANY_REQUESTS');
      expect(headers.get('retry-after')).toBe(String(body['retry_after']));
      expect(headers.get('ratelimit')).toMatch(/^"failed-credentials-per-address";r=0;t=\d+$/);
    }
    expect([200, 400, 404]).toContain((await publish(token)).status);
    expect((await publish(null)).status).toBe(401);
    expect((await publish('mcs_svc_x', `192.0.2.${String(host + 1)}`)).status).toBe(401);
  });

  it.each([
    ['the platform API', PATH, BODY, 30],
    ['the dashboard API', '/me', undefined, 31],
  ])(
    'are limited for API keys as Bearer tokens too, with one log entry: %s',
    async (_api, path, body, host) => {
      const { development } = await service.anotherOrganization();
      const keys = service.app.get(ApiKeysService);
      const scopes = ['mcp_tokens:write'];
      const { stored, token } = await keys.create(development.clientId, { name: 'ended', scopes });
      rememberSecret(token);
      await keys.revoke(stored.id);
      const send = (sent: string) =>
        service.request(path, {
          token: sent,
          ...(body && { body }),
          headers: { 'x-forwarded-for': `192.0.2.${String(host)}` },
        });
      const statuses: number[] = [];
      for (let count = 0; count < 8; count += 1) statuses.push((await send(token)).status);
      expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
      expect(await loggedStatuses(development)).toEqual([401, 401, 401, 401, 401, 429]);
      expect((await send('mck_unknown')).status).toBe(429);
    },
  );

  it('are limited at OAuth endpoints too', async () => {
    const { development } = await service.anotherOrganization();
    const introspect = (secret: string) =>
      service.request('/oauth/introspect', {
        body: 'token=unknown',
        as: { ...development, secret },
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': '192.0.2.5' },
      });
    for (let index = 0; index < 5; index += 1) expect((await introspect('wrong')).status).toBe(401);
    const { status, body } = await introspect('wrong');
    expect([status, body['error'], body['error_code']]).toEqual([429, 'slow_down', 'RATE_LIMIT_EXCEEDED']);
    expect((await introspect(development.secret)).status).toBe(200);
  });
});

/** Returns different spellings of a UUID in upper and lower case. */
function spellingsOf(clientId: string, count: number): string[] {
  // The bits of a number choose the letters, because a UUID can have few of them.
  return Array.from({ length: count }, (_, index) => {
    let position = 0;
    return clientId.replaceAll(/[a-f]/g, (letter) =>
      ((index + 1) >> position++) & 1 ? letter.toUpperCase() : letter,
    );
  });
}

describe('Rate limit of the dashboard API', () => {
  const service = useTestApp({ DASHBOARD_REQUESTS_PER_MINUTE: '3' });

  it.each(DASHBOARD_OPERATIONS)('applies to all operations together, and refuses $id', async (operation) => {
    const login = await service.login('owner');
    for (const path of ['/request-logs', '/webhook-endpoints', '/nowhere', '/me'])
      expect((await service.request(path, { login })).status).not.toBe(429);
    const { path, method, body } = operation;
    for (const sent of body === undefined ? [undefined] : [body, TOO_LARGE]) {
      const response = await service.request(path, { method, body: sent, login });
      expect([response.status, response.body['error_code']]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
      expect(response.headers.get('retry-after')).toBe(String(response.body['retry_after']));
      remainingIn(response, 'dashboard', 3);
    }
  });

  it('keeps the input of a refused form', async () => {
    const owner = await visitorWithRole(service);
    const path = '/dashboard/single-sign-on/configurations/new';
    for (let request = 0; request < 3; request += 1) await owner.get(path);
    // Larger than other forms may be.
    const metadata = 'x'.repeat(100_000);
    const { status, text } = await owner.submit(path, { name: 'Okta', metadata_xml: metadata });
    expect([status, text]).toEqual([429, expect.stringContaining('Send again')]);
    expect(text.includes(`name="metadata_xml" value="${metadata}"`)).toBe(true);
  });

  it('allows exactly 3 of 20 concurrent requests of each user', async () => {
    for (const login of [await service.login('owner'), await service.login('member')]) {
      const responses = await Promise.all(
        Array.from({ length: 20 }, () => service.request('/me', { login })),
      );
      expect([countOf(responses, 200), countOf(responses, 429)]).toEqual([3, 17]);
      const remaining = responses.filter(({ status }) => status === 200);
      expect(new Set(remaining.map((response) => remainingIn(response, 'dashboard', 3)))).toEqual(
        new Set([2, 1, 0]),
      );
    }
  });
});
