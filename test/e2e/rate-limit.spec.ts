import { CREATE_MCP_TOKEN, DASHBOARD_OPERATIONS, SEARCH_DETECTED_ACCOUNTS } from '../support/operations.js';
import { error, startTestApp, type Answer, type TestApp } from '../support/test-app.js';

const { path: PATH, body: BODY } = CREATE_MCP_TOKEN;

const TOO_LARGE = { external_user_id: 'x'.repeat(600_000) };

const countOf = (answers: readonly Answer[], status: number): number =>
  answers.filter((answer) => answer.status === status).length;

describe('Limit of operation 1', () => {
  let service: TestApp;

  beforeAll(async () => {
    service = await startTestApp();
  });
  afterAll(() => service.close());

  /** So many calls at once, with these bodies in turn. */
  const rivals = (count: number, bodies: readonly unknown[] = [BODY], as = service.development) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        service.request(PATH, { body: bodies[index % bodies.length], as }),
      ),
    );

  function expectRefusal({ status, headers, body }: Answer): void {
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

  it('lets 600 calls through, whatever their outcome, and not one more of many rivals', async () => {
    const first: Answer[] = [];
    first.push(...(await rivals(50, [BODY, {}, 'not json', TOO_LARGE, BODY])));
    for (let round = 1; round < 10; round += 1) {
      first.push(...(await rivals(50, [BODY, {}, 'not json', [], BODY])));
    }
    expect([200, 400, 413].map((status) => countOf(first, status))).toEqual([200, 290, 10]);

    // Nobody knows whose these are, so they count for nobody.
    const wrong = { ...service.development, secret: 'wrong' };
    expect(countOf(await rivals(20, [BODY], wrong), 401)).toBe(20);

    const last = await rivals(150);
    expect(countOf(last, 200)).toBe(100);
    const refused = last.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(50);
    for (const answer of refused) expectRefusal(answer);
  });

  it('goes on refusing, before it looks at the body', async () => {
    for (const body of [BODY, {}, 'not json', TOO_LARGE]) {
      expectRefusal(await service.request(PATH, { body, as: service.development }));
    }
  });

  it('looks at the credentials first', async () => {
    const answer = await service.request(PATH, {
      body: BODY,
      as: { ...service.development, secret: 'wrong' },
    });
    expect(answer.status).toBe(401);
  });

  it('holds for each client by itself, and for this operation alone', async () => {
    const stranger = await service.anotherOrganization();
    for (const as of [service.production, stranger.development, stranger.production]) {
      expect((await service.request(PATH, { body: BODY, as })).status).toBe(200);
    }
    const { path, body } = SEARCH_DETECTED_ACCOUNTS;
    expect((await service.request(path, { body, as: service.development })).status).toBe(200);
  });
});

// Last: in one process only the application that was started last reaches its database in every way.
describe('Limit of the dashboard API', () => {
  let service: TestApp;

  beforeAll(async () => {
    service = await startTestApp({ DASHBOARD_REQUESTS_PER_MINUTE: '3' });
  });
  afterAll(() => service.close());

  it.each(DASHBOARD_OPERATIONS)('holds for all operations together, and refuses $id', async (operation) => {
    const login = await service.login('owner');
    for (const path of ['/organization', '/users', '/nowhere', '/merchants'])
      expect((await service.request(path, { login })).status).not.toBe(429);
    const { path, method, body } = operation;
    for (const sent of body === undefined ? [undefined] : [body, TOO_LARGE]) {
      const { status, headers, body: answer } = await service.request(path, { method, body: sent, login });
      expect([status, answer['error_code']]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
      expect(headers.get('retry-after')).toBe(String(answer['retry_after']));
    }
  });

  it('lets 3 of 20 rivals through, and counts for each user alone', async () => {
    for (const login of [await service.login('owner'), await service.login('member')]) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => service.request('/organization', { login })),
      );
      expect([countOf(answers, 200), countOf(answers, 429)]).toEqual([3, 17]);
    }
  });
});
