import { CREATE_MCP_TOKEN, DASHBOARD_OPERATIONS, SEARCH_DETECTED_ACCOUNTS } from '../support/operations.js';
import { error, startTestApp, type TestResponse, type TestApp } from '../support/test-app.js';

const { path: PATH, body: BODY } = CREATE_MCP_TOKEN;

const TOO_LARGE = { external_user_id: 'x'.repeat(600_000) };

const countOf = (responses: readonly TestResponse[], status: number): number =>
  responses.filter((response) => response.status === status).length;

describe('Rate limit of POST /mcp/tokens/create', () => {
  let service: TestApp;

  beforeAll(async () => {
    service = await startTestApp();
  });
  afterAll(() => service.close());

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

// Last, because in one process only the application that started last can use its database in every way.
describe('Rate limit of the dashboard API', () => {
  let service: TestApp;

  beforeAll(async () => {
    service = await startTestApp({ DASHBOARD_REQUESTS_PER_MINUTE: '3' });
  });
  afterAll(() => service.close());

  it.each(DASHBOARD_OPERATIONS)('applies to all operations together, and refuses $id', async (operation) => {
    const login = await service.login('owner');
    for (const path of ['/organization', '/users', '/nowhere', '/merchants'])
      expect((await service.request(path, { login })).status).not.toBe(429);
    const { path, method, body } = operation;
    for (const sent of body === undefined ? [undefined] : [body, TOO_LARGE]) {
      const { status, headers, body: response } = await service.request(path, { method, body: sent, login });
      expect([status, response['error_code']]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
      expect(headers.get('retry-after')).toBe(String(response['retry_after']));
    }
  });

  it('allows exactly 3 of 20 concurrent requests of each user', async () => {
    for (const login of [await service.login('owner'), await service.login('member')]) {
      const responses = await Promise.all(
        Array.from({ length: 20 }, () => service.request('/organization', { login })),
      );
      expect([countOf(responses, 200), countOf(responses, 429)]).toEqual([3, 17]);
    }
  });
});
