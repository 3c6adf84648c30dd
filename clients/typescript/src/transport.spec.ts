/**
 * Compares built-in classes, of which the bundle has others.
 *
 * @jest-environment-options {"usesBundle": false}
 */
import { getEventListeners } from 'node:events';
import {
  ApiError,
  ConnectionError,
  followEvents,
  MerchantConnectivity,
  type ClientOptions,
  type Exchange,
} from './index.js';
import { VERSION } from './version.js';

/** Sent once: the operation accepts no idempotency key. */
const APPLICATION = {} as Parameters<MerchantConnectivity['submitJobApplication']>[0];

type Answer = Response | Error | ((request: Request) => Response);

describe('The client', () => {
  let answers: Answer[];
  let requests: Request[];

  beforeEach(() => {
    [answers, requests] = [[], []];
  });

  const fakeFetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    requests.push(request);
    const answer = answers.shift() ?? new Error('unexpected request');
    if (answer instanceof Error) return Promise.reject(answer);
    return Promise.resolve(typeof answer === 'function' ? answer(request) : answer);
  };
  const client = (options: Partial<ClientOptions> = {}): MerchantConnectivity =>
    new MerchantConnectivity({
      baseUrl: 'https://api.example/',
      clientId: 'id',
      clientSecret: 'secret',
      fetch: fakeFetch,
      ...options,
    });
  const failure = (status: number, headers: Record<string, string> = {}, body: object = {}): Response =>
    Response.json(
      { error_type: 'API_ERROR', error_code: 'SERVICE_UNAVAILABLE', error_message: 'Later.', ...body },
      { status, headers },
    );
  const token = (): Response => Response.json({ token: 'mcp_dev_x', expires_at: '2026-01-31T08:15:30.123Z' });
  const pageOf = (data: number[], next_cursor: string | null): Response =>
    Response.json({ data, next_cursor, limit: 2 });

  it('sends the credentials of the surface to its address', async () => {
    answers = [token(), Response.json({}), Response.json({})];
    const surfaces = client({
      dashboardUrl: 'https://dashboard.example/base',
      accessToken: () => Promise.resolve('jwt'),
    });
    await surfaces.createMcpToken({ external_user_id: 'u' });
    await surfaces.getRequestLog('a/b');
    await surfaces.openSession({ session_id: 's', metadata: {} });
    expect(requests.map(({ method, url, headers }) => [method, url, headers.get('authorization')])).toEqual([
      ['POST', 'https://api.example/mcp/tokens/create', `Basic ${btoa('id:secret')}`],
      ['GET', 'https://dashboard.example/base/request-logs/a%2Fb', 'Bearer jwt'],
      ['POST', 'https://api.example/session/open', null],
    ]);
    expect(await requests[0]?.json()).toEqual({ external_user_id: 'u' });
  });

  it('sends an API key in place of the secret and of an access token', async () => {
    answers = [token(), Response.json({})];
    const withKey = client({ apiKey: 'mck_dev_x' });
    await withKey.createMcpToken({ external_user_id: 'u' });
    await withKey.getCurrentUser();
    expect(requests.map(({ headers }) => headers.get('authorization'))).toEqual([
      `Basic ${btoa('id:mck_dev_x')}`,
      'Bearer mck_dev_x',
    ]);
  });

  it.each([undefined, '', 'api.example', 'ftp://api.example'])('refuses the address %j', (baseUrl) => {
    const create = (): unknown => new MerchantConnectivity({ baseUrl } as ClientOptions);
    expect(create).toThrow(TypeError);
    expect(create).toThrow('baseUrl must be the address of the service, such as https://api.example.com');
    expect(() => client({ dashboardUrl: baseUrl ?? 'x' })).toThrow('dashboardUrl must be the address');
  });

  it('says which credentials are missing', async () => {
    await expect(
      client({ clientSecret: undefined }).createMcpToken({ external_user_id: 'u' }),
    ).rejects.toThrow('createMcpToken requires clientId, and apiKey or clientSecret.');
    await expect(client().getCurrentUser()).rejects.toThrow('getCurrentUser requires apiKey or accessToken.');
  });

  it('sends forms', async () => {
    answers = [Response.json({})];
    await client().exchangeDeviceCode({
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      client_id: 'id',
      device_code: 'a b',
    });
    expect(requests[0]?.headers.get('content-type')).toContain('application/x-www-form-urlencoded');
    expect(await requests[0]?.text()).toContain('device_code=a+b');
  });

  it('throws typed errors', async () => {
    answers = [
      failure(
        400,
        { 'x-request-id': 'r-1', link: '</docs/errors#invalid_field>; rel="help"' },
        { error_type: 'INVALID_REQUEST', error_code: 'INVALID_FIELD', error_message: 'The field is wrong.' },
      ),
    ];
    const error = await client()
      .createMcpToken({ external_user_id: '' })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      operation: 'createMcpToken',
      status: 400,
      message: 'The field is wrong.',
      errorType: 'INVALID_REQUEST',
      errorCode: 'INVALID_FIELD',
      requestId: 'r-1',
      help: 'https://api.example/docs/errors#invalid_field',
      retryAfter: undefined,
    });
  });

  it('reports a response that does not come from the service', async () => {
    const headers = { 'content-type': 'text/html', server: 'nginx' };
    const bad = (): Response => new Response('<html>Bad gateway</html>', { status: 502, headers });
    answers = [bad(), bad(), bad()];
    const error = await client()
      .createMcpToken({ external_user_id: 'u' })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      status: 502,
      message:
        'The response of https://api.example with the status 502 does not come from the service, but from a proxy or another server (text/html, server: nginx).',
      errorCode: undefined,
    });
    // A page to log in to a network.
    answers = [new Response('<html>', { headers: { 'content-type': 'text/html; charset=utf-8' } })];
    await expect(client().createMcpToken({ external_user_id: 'u' })).rejects.toThrow(
      'with the status 200 does not come from the service, but from a proxy or another server (text/html).',
    );
    answers = [new Response('{}', { headers: { 'content-type': 'application/json' } })];
    await expect(client().streamWebhooks()).rejects.toThrow('does not come from the service');
  });

  it.each([
    [
      'http://www.example.com/mcp',
      'https://api.example redirects the request to http://www.example.com/mcp.',
    ],
    ['/elsewhere', 'https://api.example redirects the request to https://api.example/elsewhere.'],
  ])('does not follow a redirect to %s', async (location, message) => {
    for (const status of [301, 302, 307, 308]) {
      answers = [new Response(null, { status, headers: { location } })];
      await expect(client().createMcpToken({ external_user_id: 'u' })).rejects.toThrow(
        `${message} Nothing was sent there: set the base URL to the address of the service.`,
      );
    }
    expect(requests.map(({ redirect }) => redirect)).toEqual(Array.from({ length: 4 }, () => 'manual'));
  });

  it('names itself or the program, and says what it accepts', async () => {
    const stream = { headers: { 'content-type': 'text/event-stream' } };
    answers = [token(), new Response('', stream), pageOf([], null), token()];
    await client().createMcpToken({ external_user_id: 'u' });
    await client().streamWebhooks();
    await client().listAuditLogs();
    await client({ userAgent: 'shop/1.2' }).createMcpToken({ external_user_id: 'u' });
    const sdk = `merchant-connectivity-sdk/${VERSION}`;
    expect(requests.map(({ headers }) => [headers.get('user-agent'), headers.get('accept')])).toEqual([
      [sdk, 'application/json'],
      [sdk, 'text/event-stream'],
      [sdk, 'application/json'],
      ['shop/1.2', 'application/json'],
    ]);
  });

  it.each(['..', '.', '', ' ', '%2e%2e', '%2E.', 'a/../b', '../b', 'a/..', 'a%2f..%2fb', 'a\\..', '\ud800'])(
    'sends no request for a path with %j, which would be that of another operation',
    async (id) => {
      const named = client({ accessToken: 'jwt' });
      await expect(named.eraseExternalUser(id)).rejects.toThrow('external_user_id must not be');
      await expect(named.getUserErasure(id)).rejects.toThrow(TypeError);
      await expect(named.deleteWebhookEndpoint(id)).rejects.toThrow('id must not be');
      await expect(named.getRequestLog(id)).rejects.toThrow('id must not be');
      await expect(named.disconnectAgent(id)).rejects.toThrow('id must not be');
      expect(requests).toEqual([]);
      answers = [Response.json({}), Response.json({})];
      await named.eraseUser({ external_user_id: id });
      await named.findUserErasure({ external_user_id: id });
      expect(requests.map(({ url }) => new URL(url).pathname)).toEqual([
        '/external-users/erase',
        '/external-users/erasure',
      ]);
    },
  );

  it.each(['a/b', 'a..b', '...', '.a', '?#&=+ %', 'é', '%', 'https://x/'])(
    'keeps %j in one segment of the path',
    async (id) => {
      answers = [Response.json({})];
      await client().eraseExternalUser(id);
      const segments = new URL(requests[0]?.url ?? '').pathname.split('/');
      expect([segments.length, decodeURIComponent(segments[2] ?? '')]).toEqual([3, id]);
    },
  );

  it('keeps nothing of ended requests at a signal that lives on', async () => {
    const { signal } = new AbortController();
    const dependents = (): number[] =>
      Object.getOwnPropertySymbols(signal)
        .filter(({ description }) => description?.startsWith('kDependant'))
        .map((symbol) => (signal as unknown as Record<symbol, Set<unknown> | null>)[symbol]?.size ?? 0);
    const stream = (): Response =>
      new Response('event: ready\n\n', { headers: { 'content-type': 'text/event-stream' } });
    answers = [token(), new Response('', { status: 400 }), new Error('lost'), stream(), stream(), stream()];
    await client().createMcpToken({ external_user_id: 'u' }, { signal });
    for (const maxRetries of [0, 0])
      await expect(
        client().createMcpToken({ external_user_id: 'u' }, { signal, maxRetries }),
      ).rejects.toThrow();
    expect(await (await client().streamWebhooks({ signal })).text()).toContain('ready');
    await (await client().streamWebhooks({ signal })).body?.cancel();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    await client().streamWebhooks({ signal });
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    expect(dependents().filter((size) => size > 0)).toEqual([]);
  });

  it('says what to do about a proxy that fetch does not use', async () => {
    const before = process.env['HTTPS_PROXY'];
    process.env['HTTPS_PROXY'] = 'http://proxy.example:3128';
    try {
      const direct = { baseUrl: 'https://127.0.0.1:2', fetch: undefined, maxRetries: 0 };
      await expect(client(direct).createMcpToken({ external_user_id: 'u' })).rejects.toThrow(
        /ECONNREFUSED.*HTTPS_PROXY is set, but fetch does not use it: set NODE_USE_ENV_PROXY=1/,
      );
    } finally {
      if (before === undefined) delete process.env['HTTPS_PROXY'];
      else process.env['HTTPS_PROXY'] = before;
    }
  });

  describe('repeats', () => {
    it('any request that got 429, after the time in Retry-After', async () => {
      answers = [failure(429, { 'retry-after': '0' }, { retry_after: 0 }), Response.json({ session: 's' })];
      const before = performance.now();
      await client().createSession({ type: 'link', external_user_id: 'u' });
      expect(requests).toHaveLength(2);
      expect(performance.now() - before).toBeGreaterThan(200);
    });

    it('only safe operations if it is unknown whether the request was processed', async () => {
      const unavailable = (): Response => failure(503, { 'retry-after': '0' });
      answers = [unavailable(), token()];
      await client().createMcpToken({ external_user_id: 'u' });
      answers = [unavailable()];
      await expect(client().submitJobApplication(APPLICATION)).rejects.toMatchObject({ status: 503 });
      answers = [new TypeError('fetch failed', { cause: new Error('ECONNRESET') })];
      const lost = client().submitJobApplication(APPLICATION);
      await expect(lost).rejects.toThrow('The request to https://api.example failed: ECONNRESET.');
      await expect(lost).rejects.toBeInstanceOf(ConnectionError);
      await expect(lost).rejects.toMatchObject({ operation: 'submitJobApplication' });
      expect(requests).toHaveLength(4);
    });

    it('what the documentation calls safe to repeat', async () => {
      const dashboard = client({ accessToken: 'jwt' });
      const repeated = async (send: () => PromiseLike<unknown>): Promise<void> => {
        const before = requests.length;
        answers = [failure(503, { 'retry-after': '0' }), Response.json({})];
        await send();
        expect(requests.length - before).toBe(2);
      };
      await repeated(() => dashboard.createConnectionCode({ external_user_id: 'u' }));
      await repeated(() => dashboard.completeAgentAuthorization('id', { external_user_id: 'u' }));
      await repeated(() => dashboard.cancelSignInLink('id'));
      await repeated(() =>
        dashboard.exchangeDeviceCode({
          grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
          client_id: 'id',
          device_code: 'code',
        }),
      );
    });

    it('a 500 once, and a query that takes too long not at all', async () => {
      const internal = (): Response => failure(500, {}, { error_code: 'INTERNAL_ERROR' });
      answers = [internal(), internal()];
      await expect(client().createMcpToken({ external_user_id: 'u' })).rejects.toMatchObject({ status: 500 });
      expect(requests).toHaveLength(2);
      answers = [failure(504, {}, { error_code: 'REQUEST_LOG_QUERY_TIMEOUT' })];
      await expect(
        client({ accessToken: 'jwt' }).listRequestLogs({ environment: 'development' }),
      ).rejects.toMatchObject({ status: 504 });
      expect(requests).toHaveLength(3);
    });

    it.each([502, 504, 522])('a response of a proxy with status %d', async (status) => {
      const page = (): Response => new Response('<html>', { status });
      answers = [page(), page(), token()];
      await client().createMcpToken({ external_user_id: 'u' });
      answers = [page(), Response.json({})];
      await client().eraseUser({ external_user_id: 'u' });
      answers = [page()];
      await expect(client().submitJobApplication(APPLICATION)).rejects.toMatchObject({ status });
      expect(requests).toHaveLength(6);
    });

    it.each([null, []])('creating an endpoint with the events %j, with a key of its own', async (events) => {
      answers = [failure(503, { 'retry-after': '0' }), Response.json({})];
      const endpoint = { environment: 'development', url: 'https://hooks.example.com/', events } as const;
      await client({ accessToken: 'jwt' }).createWebhookEndpoint(endpoint);
      expect(requests).toHaveLength(2);
    });

    it('publishing with an idempotency key, and a batch only if each event has one', async () => {
      const event = {
        client_id: 'c',
        event: 'NEW_TRANSACTIONS_AVAILABLE',
        external_user_id: 'u',
        merchant_id: 16,
      } as const;
      const internal = client({ serviceToken: 'mcs_svc_x' });
      answers = [failure(503, { 'retry-after': '0' }), Response.json({})];
      await internal.publishEvent({ ...event, idempotency_key: 'k' });
      answers = [failure(503, { 'retry-after': '0' }), Response.json({})];
      await internal.publishEvent(event);
      const keys = requests.map(({ headers }) => headers.get('idempotency-key'));
      expect(keys).toEqual([null, null, expect.any(String), keys[2]]);
      answers = [failure(503, { 'retry-after': '0' })];
      const events = [{ ...event, idempotency_key: 'k' }, event];
      await expect(internal.publishEvents({ events })).rejects.toMatchObject({ status: 503 });
      expect(requests).toHaveLength(5);
    });

    it('creating an endpoint with an idempotency key, also while another request is in progress', async () => {
      const endpoint = { environment: 'development', url: 'https://hooks.example.com/' } as const;
      const dashboard = client({ accessToken: 'jwt' });
      const ongoing = { error_type: 'INVALID_REQUEST', error_code: 'ONGOING_OPERATION' };
      answers = [
        failure(503, { 'retry-after': '0' }),
        failure(409, { 'retry-after': '0' }, ongoing),
        Response.json({}),
      ];
      await dashboard.createWebhookEndpoint(endpoint, { idempotencyKey: 'k' });
      expect(requests.map(({ headers }) => headers.get('idempotency-key'))).toEqual(['k', 'k', 'k']);
      answers = [failure(503, { 'retry-after': '0' })];
      const applied = client().submitJobApplication(APPLICATION, { idempotencyKey: 'k' });
      await expect(applied).rejects.toMatchObject({ status: 503 });
      answers = [failure(409, { 'retry-after': '0' })];
      await expect(client().createSession({ type: 'link', external_user_id: 'u' })).rejects.toMatchObject({
        status: 409,
      });
      expect(requests).toHaveLength(5);
    });

    it('no more than twice, and not if the service asks for too long a wait', async () => {
      answers = Array.from({ length: 5 }, () => failure(503, { 'retry-after': '0' }));
      await expect(client().createMcpToken({ external_user_id: 'u' })).rejects.toMatchObject({ status: 503 });
      expect(requests).toHaveLength(3);
      answers = [failure(429, {}, { retry_after: 61 })];
      await expect(client().createMcpToken({ external_user_id: 'u' })).rejects.toMatchObject({
        retryAfter: 61,
      });
      expect(requests).toHaveLength(4);
    });

    it('nothing after the request was aborted', async () => {
      const aborted = new AbortController();
      answers = [failure(503, { 'retry-after': '30' })];
      const sent = client().createMcpToken({ external_user_id: 'u' }, { signal: aborted.signal });
      setTimeout(() => aborted.abort(new Error('enough')), 20);
      await expect(sent).rejects.toThrow('enough');
      expect(requests).toHaveLength(1);
    });
  });

  it('fails if there is no response in time', async () => {
    const never = (_input: unknown, init?: RequestInit): Promise<Response> =>
      new Promise((_, reject) =>
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error)),
      );
    await expect(
      client({ fetch: never, maxRetries: 0 }).createMcpToken({ external_user_id: 'u' }, { timeout: 20 }),
    ).rejects.toThrow('failed: no response within 20 ms.');
  });

  it('awaits the first page of a list, and iterates over the entries of all pages', async () => {
    const list = (): ReturnType<MerchantConnectivity['listAuditLogs']> =>
      client().listAuditLogs({ start: '2026-01-01T00:00:00Z' });
    answers = [pageOf([1, 2], 'next')];
    expect(await list()).toEqual({ data: [1, 2], next_cursor: 'next', limit: 2 });
    answers = [pageOf([1, 2], 'a'), pageOf([], 'b'), pageOf([3], null)];
    const entries: unknown[] = [];
    for await (const entry of list()) entries.push(entry);
    expect(entries).toEqual([1, 2, 3]);
    expect(requests.slice(1).map(({ url }) => new URL(url).search)).toEqual([
      '?start=2026-01-01T00%3A00%3A00Z',
      '?start=2026-01-01T00%3A00%3A00Z&cursor=a',
      '?start=2026-01-01T00%3A00%3A00Z&cursor=b',
    ]);
  });

  it('tells what happened to each attempt, without data of users', async () => {
    const [attempts, ofClient, ofRequest]: [object[], Exchange[], Exchange[]] = [[], [], []];
    const limit = { 'x-request-id': 'r-1', ratelimit: '"platform";r=3;t=37' };
    answers = [failure(503, { 'retry-after': '0' }), Response.json({ data: [] }, { headers: limit })];
    const observed = client({
      onRequest: ({ headers, ...attempt }) => {
        attempts.push(attempt);
        headers.set('traceparent', `00-${attempt.attempt}`);
      },
      onResponse: (exchange) => void ofClient.push(exchange),
    });
    const onResponse = (exchange: Exchange): void => void ofRequest.push(exchange);
    await observed.listMerchantAccounts({ external_user_id: 'secret' }, { onResponse });
    const request = { operation: 'listMerchantAccounts', method: 'GET', path: '/merchant-accounts' };
    expect(attempts).toEqual([
      { ...request, attempt: 1 },
      { ...request, attempt: 2 },
    ]);
    expect(requests.map(({ headers }) => headers.get('traceparent'))).toEqual(['00-1', '00-2']);
    expect(ofRequest).toEqual(ofClient);
    expect(ofClient).toEqual([
      expect.objectContaining({ ...request, attempt: 1, status: 503, error: expect.any(ApiError) }),
      {
        ...request,
        attempt: 2,
        milliseconds: expect.any(Number),
        status: 200,
        requestId: 'r-1',
        rateLimit: { name: 'platform', remaining: 3, reset: 37 },
        isReplayed: false,
        error: undefined,
      },
    ]);
    expect(JSON.stringify(ofClient)).not.toContain('secret');
  });

  it('tells that a response was replayed, and that there was none', async () => {
    const exchanges: Exchange[] = [];
    const replayed = Response.json({ session: 's' }, { headers: { 'idempotency-replayed': 'true' } });
    answers = [new TypeError('fetch failed'), replayed];
    const observed = client({ onResponse: (exchange) => void exchanges.push(exchange) });
    await observed.createSession({ type: 'link', external_user_id: 'u' });
    expect(exchanges).toMatchObject([
      { status: undefined, error: expect.any(ConnectionError), isReplayed: false },
      { status: 200, isReplayed: true },
    ]);
  });

  it.each(['onRequest', 'onResponse'])(
    'throws the error of %s as it is, and repeats no request',
    async (name) => {
      const calls: string[] = [];
      const mistake = new RangeError('a mistake of the program');
      answers = [token(), token(), token()];
      const throwing = client({
        [name]: () => {
          calls.push(name);
          throw mistake;
        },
      });
      await expect(throwing.createMcpToken({ external_user_id: 'u' })).rejects.toBe(mistake);
      expect(calls).toEqual([name]);
      expect(requests).toHaveLength(name === 'onRequest' ? 0 : 1);
    },
  );

  it('sends a key of its own if a repetition would otherwise not be safe', async () => {
    const failures = [failure(503, { 'retry-after': '0' }), new TypeError('fetch failed')];
    answers = [...failures, Response.json({ session: 's' })];
    await client().extendSession({ session_id: 's' });
    const keys = requests.map(({ headers }) => headers.get('idempotency-key'));
    expect(keys).toEqual(Array(3).fill(expect.stringMatching(/^[0-9a-f-]{36}$/)));
    expect(new Set(keys).size).toBe(1);
    requests = [];
    answers = [Response.json({}), Response.json({}), Response.json({})];
    await client().extendSession({ session_id: 's' });
    await client().extendSession({ session_id: 's' }, { idempotencyKey: 'own' });
    await client().createMcpToken({ external_user_id: 'u' });
    const others = requests.map(({ headers }) => headers.get('idempotency-key'));
    expect(others).toEqual([expect.any(String), 'own', null]);
    expect(others[0]).not.toBe(keys[0]);
  });

  describe('followEvents', () => {
    const eventsOf = (ids: string[], next_cursor: string, has_more: boolean): Response =>
      Response.json({ data: ids.map((id) => ({ id })), next_cursor, has_more, delayed: false });

    it('reads page after page, and waits at the end', async () => {
      answers = [eventsOf(['a', 'b'], '1', true), eventsOf([], '2', false), eventsOf(['c'], '3', false)];
      const found: string[] = [];
      for await (const page of followEvents(client(), {
        cursor: '0',
        event: ['CARD_UPDATED', 'CARD_FAILED'],
      })) {
        found.push(...page.data.map(({ id }) => id), page.next_cursor);
        if (page.next_cursor === '3') break;
      }
      expect(found).toEqual(['a', 'b', '1', '2', 'c', '3']);
      expect(requests.map(({ url }) => new URL(url).search)).toEqual(
        ['0', '1', '2'].map((cursor) => `?cursor=${cursor}&event=CARD_UPDATED&event=CARD_FAILED&wait=20`),
      );
    });

    it('ends at the end of the feed if it must not wait', async () => {
      answers = [eventsOf(['a'], '1', true), eventsOf(['b'], '2', false)];
      const found: string[] = [];
      for await (const { data } of followEvents(client(), { wait: 0 }))
        found.push(...data.map(({ id }) => id));
      expect(found).toEqual(['a', 'b']);
    });

    it('says where to continue if the cursor is too old', async () => {
      answers = [failure(410, {}, { error_code: 'EVENT_CURSOR_EXPIRED', oldest_cursor: 'o' })];
      const pages = followEvents(client(), { cursor: 'c' });
      await expect(pages.next()).rejects.toMatchObject({ status: 410, details: { oldestCursor: 'o' } });
    });
  });
});
