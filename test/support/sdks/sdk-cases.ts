import { generateKey, signerOf } from '../../../src/modules/webhook-endpoints/signing-key.js';
import { deliveryHeaders } from '../../../src/modules/webhooks/signing/delivery-headers.js';

/*
 * The cases that both SDKs must pass: calls, the responses of a server to them, and the expected outcome.
 * test/programs/sdk-cases.spec.ts runs them with each SDK.
 */

/** A call of an operation, of `webhooks.verify` or of `webhooks.sign`. */
export interface SdkCall {
  /** Options of the client, in addition to its address and credentials. */
  readonly client?: Readonly<Record<string, unknown>>;
  readonly operation?: string;
  /** The values in the path. */
  readonly path?: readonly string[];
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Options of the request. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Whether the outcome contains what the functions `onResponse` got. */
  readonly isObserved?: true;
  /** For lists: the first page, or the items of all pages. */
  readonly list?: 'first' | 'all';
  readonly verify?: {
    /** In base64. */
    readonly body: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly secret: string | readonly (string | null)[] | null;
    /** null: any age. */
    readonly tolerance?: number | null;
  };
  readonly sign?: {
    readonly body: string;
    readonly secret: string | readonly string[];
    readonly id: string;
    /** Seconds. */
    readonly timestamp: number;
  };
}

/** A response of the server; `lost`: it closes the connection; `none`: it does not respond. */
export type Answer =
  | 'lost'
  | 'none'
  | {
      /** Milliseconds until the response begins. */
      readonly delay?: number;
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** An object is sent as JSON. */
      readonly body?: string | object;
    };

export interface SdkCase {
  readonly title: string;
  readonly call: SdkCall;
  readonly answers?: readonly Answer[];
  /** The expected part of the outcome; `result` by default. */
  readonly outcome?: object;
  /** The expected parts of the requests that the server gets. */
  readonly requests?: readonly object[];
  /** The only SDK that does this. */
  readonly only?: 'Python';
  /** The case is left out until the API document has this operation. */
  readonly needs?: string;
}

const TOKEN = { token: 'mcp_dev_x', expires_at: '2026-01-31T08:15:30.123Z' };
const CREATE_TOKEN: SdkCall = { operation: 'createMcpToken', body: { external_user_id: 'u' } };
/** Is never repeated. */
const APPLY: SdkCall = {
  operation: 'submitJobApplication',
  body: {
    role: 'engineer',
    full_name: 'A',
    email: 'a@example.com',
    resume_url: 'https://example.com/',
    years_experience: 1,
    authorized_to_work: true,
    onsite_nyc: true,
    exceptional_at: 'tests',
  },
};
const EVENT = { client_id: 'c', event: 'NEW_TRANSACTIONS_AVAILABLE', external_user_id: 'u', merchant_id: 16 };
const ENDPOINT: SdkCall = {
  operation: 'createWebhookEndpoint',
  body: { environment: 'development', url: 'https://hooks.example.com/' },
};

const failure = (status: number, body: object = {}, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: { 'retry-after': '0', ...headers },
  body: { error_type: 'API_ERROR', error_code: 'SERVICE_UNAVAILABLE', error_message: 'Later.', ...body },
});
const page = (status: number): Answer => ({
  status,
  headers: { 'content-type': 'text/html', server: 'nginx' },
  body: '<html>',
});
const failed = (error: object): object => ({ error: expect.objectContaining(error) as object });
const ONGOING = failure(409, { error_type: 'INVALID_REQUEST', error_code: 'ONGOING_OPERATION' });
const ANY: Answer = { body: {} };
const authorized = (authorization: string): object => ({
  headers: expect.objectContaining({ authorization }) as object,
});
/** @param options their names in TypeScript; in Python, they are in snake case */
const missing = (operation: string, options: string): object => {
  const inPython = options.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const message = new RegExp(`^${operation} requires (?:${options}|${inPython})\\.$`);
  return failed({ kind: 'InvalidArgument', message: expect.stringMatching(message) });
};
const sent = (count: number): readonly object[] => Array.from({ length: count }, () => ({}));

/** Cases in which the request is repeated until it succeeds. */
const repeated = (title: string, call: SdkCall, answers: readonly Answer[]): SdkCase => ({
  title: `repeats ${title}`,
  call,
  answers: [...answers, ANY],
  requests: sent(answers.length + 1),
});
/** Cases in which the request is not repeated. */
const reported = (title: string, call: SdkCall, answer: Answer, error: object = {}): SdkCase => ({
  title: `does not repeat ${title}`,
  call,
  answers: [answer],
  outcome: failed(error),
  requests: sent(1),
});

const REQUESTS: readonly SdkCase[] = [
  {
    title: 'sends the credentials of the platform, and JSON',
    call: CREATE_TOKEN,
    answers: [{ body: TOKEN }],
    outcome: { result: TOKEN },
    requests: [
      {
        method: 'POST',
        url: '/mcp/tokens/create',
        body: '{"external_user_id":"u"}',
        headers: expect.objectContaining({
          authorization: `Basic ${Buffer.from('id:secret').toString('base64')}`,
          'content-type': 'application/json',
          accept: 'application/json',
          'user-agent': expect.stringMatching(/^merchant-connectivity-(?:sdk|python)\/\d+\.\d+\.\d+$/),
        }),
      },
    ],
  },
  {
    title: 'names the program, and sends additional headers',
    call: {
      ...CREATE_TOKEN,
      client: { userAgent: 'shop/1.2' },
      options: { headers: { 'x-request-id': 'r' } },
    },
    answers: [ANY],
    requests: [{ headers: expect.objectContaining({ 'user-agent': 'shop/1.2', 'x-request-id': 'r' }) }],
  },
  {
    title: 'sends no credentials with an operation that has none',
    call: { operation: 'openSession', body: { session_id: 's', metadata: { a: 'é' } } },
    answers: [ANY],
    requests: [{ headers: expect.not.objectContaining({ authorization: expect.anything() }) }],
  },
  {
    title: 'sends forms',
    call: {
      operation: 'exchangeDeviceCode',
      body: {
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        client_id: 'id',
        device_code: 'a b',
      },
    },
    answers: [ANY],
    requests: [
      {
        body: expect.stringContaining('device_code=a+b'),
        headers: expect.objectContaining({
          'content-type': expect.stringContaining('application/x-www-form-urlencoded'),
        }),
      },
    ],
  },
  {
    title: 'sends null for a field that it removes, and nothing for an absent one',
    call: { operation: 'updateWebhookEndpoint', path: ['e'], body: { description: null } },
    answers: [ANY],
    requests: [{ method: 'PATCH', url: '/webhook-endpoints/e', body: '{"description":null}' }],
  },
  {
    title: 'sends an API key in place of the secret',
    call: { ...CREATE_TOKEN, client: { apiKey: 'key' } },
    answers: [ANY],
    requests: [authorized(`Basic ${Buffer.from('id:key').toString('base64')}`)],
  },
  {
    title: 'sends an API key to the dashboard API',
    call: { operation: 'getCurrentUser', client: { apiKey: 'key', accessToken: undefined } },
    answers: [ANY],
    requests: [authorized('Bearer key')],
  },
  {
    title: 'sends the access token to the dashboard API if it also has an API key',
    call: { operation: 'getCurrentUser', client: { apiKey: 'key' } },
    answers: [ANY],
    requests: [authorized('Bearer jwt')],
  },
  {
    title: 'sends credentials from files, which end with a line feed',
    call: { ...CREATE_TOKEN, client: { clientId: 'id\n', clientSecret: 'secret\r\n' } },
    answers: [ANY],
    requests: [authorized(`Basic ${Buffer.from('id:secret').toString('base64')}`)],
  },
  {
    title: 'sends a token from a file, which ends with a line feed',
    call: { operation: 'getCurrentUser', client: { accessToken: 'jwt\n' } },
    answers: [ANY],
    requests: [authorized('Bearer jwt')],
  },
  ...[
    { given: 'a secret of white space', client: { clientSecret: ' \n' } },
    { given: 'no client ID', client: { clientId: undefined, apiKey: 'key' } },
    { given: 'no secret', client: { clientSecret: undefined } },
    { given: 'an empty secret', client: { clientSecret: '' } },
    { given: 'an empty API key', client: { apiKey: '' } },
  ].map(({ given, client }) => ({
    title: `says which credentials are missing with ${given}`,
    call: { ...CREATE_TOKEN, client },
    outcome: missing('createMcpToken', 'clientId, and apiKey or clientSecret'),
    requests: [],
  })),
  {
    title: 'says which credentials of the dashboard API are missing',
    call: { operation: 'getCurrentUser', client: { accessToken: undefined } },
    outcome: missing('getCurrentUser', 'apiKey or accessToken'),
    requests: [],
  },
  {
    title: 'sends no API key to the internal API',
    call: {
      operation: 'getEvent',
      path: ['e'],
      client: { apiKey: 'key', serviceToken: undefined },
    },
    outcome: missing('getEvent', 'serviceToken'),
    requests: [],
  },
  ...['', 'api.example', 'ftp://api.example'].map((baseUrl) => ({
    title: `refuses the address "${baseUrl}"`,
    call: { ...CREATE_TOKEN, client: { baseUrl } },
    outcome: failed({
      kind: 'InvalidArgument',
      message: expect.stringMatching(
        /^base_?url must be the address of the service, such as https:\/\/api.example.com, but is /i,
      ),
    }),
    requests: [],
  })),
  ...['..', '.', '', ' ', '%2e%2e', '%2E.', 'a/../b', '../b', 'a/..', 'a%2f..%2fb', 'a\\..', '\ud800'].map(
    (id) => ({
      title: `sends no request for a path with ${JSON.stringify(id)}, which would be that of another operation`,
      call: { operation: 'eraseExternalUser', path: [id] },
      outcome: failed({
        kind: 'InvalidArgument',
        message: expect.stringMatching(/^external_user_id must not be .*, which cannot be part of a path\.$/),
      }),
      requests: [],
    }),
  ),
  ...['a/b', 'a..b', '...', '.a', '?#&=+ %', 'é', '%', 'https://x/'].map((id) => ({
    title: `keeps ${JSON.stringify(id)} in one segment of the path`,
    call: { operation: 'eraseExternalUser', path: [id] },
    answers: [ANY],
    requests: [{ segments: ['', 'external-users', id] }],
  })),
];

const LISTS: readonly SdkCase[] = [
  {
    title: 'returns the first page of a list',
    call: { operation: 'listAuditLogs', query: { start: '2026-01-01T00:00:00Z' }, list: 'first' },
    answers: [{ body: { data: [1, 2], next_cursor: 'next', limit: 2 } }],
    outcome: { result: { data: [1, 2], next_cursor: 'next', limit: 2 } },
    requests: [{ url: '/audit_logs?start=2026-01-01T00%3A00%3A00Z' }],
  },
  {
    title: 'iterates over the entries of all pages',
    call: { operation: 'listAuditLogs', query: { limit: 2 }, list: 'all' },
    answers: [
      { body: { data: [1, 2], next_cursor: 'a', limit: 2 } },
      { body: { data: [], next_cursor: 'b', limit: 2 } },
      { body: { data: [3], next_cursor: null, limit: 2 } },
    ],
    outcome: { result: [1, 2, 3] },
    requests: [
      { url: '/audit_logs?limit=2' },
      { url: '/audit_logs?limit=2&cursor=a' },
      { url: '/audit_logs?limit=2&cursor=b' },
    ],
  },
  {
    title: 'opens a stream',
    call: { operation: 'streamWebhooks' },
    answers: [{ headers: { 'content-type': 'text/event-stream' }, body: 'event: ready\n\n' }],
    outcome: { result: 'event: ready\n\n' },
    requests: [{ headers: expect.objectContaining({ accept: 'text/event-stream' }) }],
  },
];

const feedPage = (next_cursor: string, has_more: boolean): { body: object } => ({
  body: { data: [], next_cursor, has_more },
});
const FEED_PAGES = [feedPage('a', true), feedPage('b', true), feedPage('c', false)];
const FEED: readonly SdkCase[] = [
  {
    title: 'follows the event feed to its end',
    needs: 'readWebhookEvents',
    call: { operation: 'followWebhookEvents', query: { wait: 0, event: ['CARD_UPDATED', 'CARD_FAILED'] } },
    answers: FEED_PAGES,
    outcome: { result: FEED_PAGES.map(({ body }) => body) },
    requests: ['', '&cursor=a', '&cursor=b'].map((cursor) => ({
      url: `/webhook-events?wait=0&event=CARD_UPDATED&event=CARD_FAILED${cursor}`,
    })),
  },
  {
    title: 'waits for further events, and reports a cursor that is too old',
    needs: 'readWebhookEvents',
    call: { operation: 'followWebhookEvents', query: { cursor: 'old' } },
    answers: [
      feedPage('a', false),
      failure(410, { error_code: 'EVENT_CURSOR_EXPIRED', oldest_cursor: 'oldest' }),
    ],
    outcome: failed({ status: 410, errorCode: 'EVENT_CURSOR_EXPIRED', oldestCursor: 'oldest' }),
    requests: ['old', 'a'].map((cursor) => ({
      url: expect.stringMatching(
        new RegExp(`^/webhook-events\\?(?:wait=20&cursor=${cursor}|cursor=${cursor}&wait=20)$`),
      ),
    })),
  },
  ...(['readWebhookEvents', 'followWebhookEvents'] as const).map((operation) => ({
    title: `gives a request of ${operation} that waits longer than the timeout the time that it asks for`,
    needs: 'readWebhookEvents',
    call: { operation, query: { wait: 1 }, client: { timeout: 100, maxRetries: 0 } },
    answers: [{ ...feedPage('a', false), delay: 400 }, failure(410, { error_code: 'EVENT_CURSOR_EXPIRED' })],
    outcome:
      operation === 'readWebhookEvents'
        ? { result: feedPage('a', false).body }
        : failed({ errorCode: 'EVENT_CURSOR_EXPIRED' }),
  })),
  {
    title: 'keeps the timeout of a request that does not wait',
    needs: 'readWebhookEvents',
    call: { operation: 'readWebhookEvents', query: { wait: 0 }, client: { timeout: 100, maxRetries: 0 } },
    answers: ['none'],
    outcome: failed({ message: expect.stringMatching(/no response within (?:100 ms|0\.1 s)\.$/) }),
  },
];

const OBSERVED: readonly SdkCase[] = [
  {
    title: 'tells programs of each attempt, and lets them add headers',
    call: { operation: 'getRequestLog', path: ['secret'], isObserved: true },
    answers: [
      failure(503),
      {
        headers: {
          'x-request-id': 'r-2',
          ratelimit: '"default";r=59;t=12',
          'idempotency-replayed': 'true',
        },
        body: {},
      },
    ],
    outcome: {
      result: {},
      exchanges: [
        {
          operation: 'getRequestLog',
          method: 'GET',
          path: '/request-logs/{id}',
          attempt: 1,
          status: 503,
          isReplayed: false,
          error: 'Later.',
        },
        {
          operation: 'getRequestLog',
          method: 'GET',
          path: '/request-logs/{id}',
          attempt: 2,
          status: 200,
          isReplayed: true,
          requestId: 'r-2',
          rateLimit: { name: 'default', remaining: 59, reset: 12 },
        },
      ],
    },
    requests: [1, 2].map(() => ({ headers: expect.objectContaining({ traceparent: 'of the program' }) })),
  },
  {
    title: 'tells programs of an attempt without a response',
    call: { ...APPLY, options: { maxRetries: 0 }, isObserved: true },
    answers: ['lost'],
    outcome: {
      ...failed({ kind: 'ConnectionError' }),
      exchanges: [
        {
          operation: 'submitJobApplication',
          method: 'POST',
          path: '/apply',
          attempt: 1,
          isReplayed: false,
          error: expect.stringMatching(/^The request to http:\/\/127\.0\.0\.1\S* failed: .*[^.]\.$/),
        },
      ],
    },
  },
];

const ERRORS: readonly SdkCase[] = [
  {
    title: 'raises typed errors',
    call: CREATE_TOKEN,
    answers: [
      failure(
        400,
        { error_type: 'INVALID_REQUEST', error_code: 'INVALID_FIELD', error_message: 'The field is wrong.' },
        { 'x-request-id': 'r-1', link: '</docs/errors#invalid_field>; rel="help"' },
      ),
    ],
    outcome: failed({
      kind: 'ApiError',
      operation: 'createMcpToken',
      status: 400,
      message: 'The field is wrong.',
      errorType: 'INVALID_REQUEST',
      errorCode: 'INVALID_FIELD',
      requestId: 'r-1',
      help: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/docs\/errors#invalid_field$/),
    }),
    requests: sent(1),
  },
  {
    title: 'reports a response of a proxy',
    call: CREATE_TOKEN,
    answers: [page(502), page(502), page(502)],
    outcome: failed({
      kind: 'ApiError',
      status: 502,
      message: expect.stringMatching(
        /^The response of http:\/\/127\.0\.0\.1:\d+ with the status 502 does not come from the service, but from a proxy or another server \(text\/html, server: nginx\)\.$/,
      ),
    }),
  },
  {
    title: 'reports a page to log in to a network',
    call: CREATE_TOKEN,
    answers: [{ headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<html>' }],
    outcome: failed({
      message: expect.stringContaining(
        'with the status 200 does not come from the service, but from a proxy',
      ),
    }),
  },
  {
    title: 'reports a stream that is none',
    call: { operation: 'streamWebhooks' },
    answers: [ANY],
    outcome: failed({ message: expect.stringContaining('does not come from the service') }),
  },
  ...[301, 302, 307, 308].map((status) => ({
    title: `does not follow a redirect with ${status}`,
    call: CREATE_TOKEN,
    answers: [{ status, headers: { location: 'http://www.example.com/mcp' } }],
    outcome: failed({
      kind: 'ApiError',
      status,
      message: expect.stringMatching(
        /redirects the request to http:\/\/www\.example\.com\/mcp\. Nothing was sent there: set the base URL to the address of the service\.$/,
      ),
    }),
    requests: sent(1),
  })),
  {
    title: 'fails if there is no response in time',
    call: { ...CREATE_TOKEN, options: { timeout: 50, maxRetries: 0 } },
    answers: ['none'],
    outcome: failed({
      kind: 'ConnectionError',
      operation: 'createMcpToken',
      message: expect.stringMatching(
        /^The request to http:\S+ failed: no response within (?:50 ms|0\.05 s)\.$/,
      ),
    }),
  },
];

const RETRIES: readonly SdkCase[] = [
  repeated(
    'any request that got 429',
    { operation: 'createSession', body: { type: 'link', external_user_id: 'u' } },
    [failure(429)],
  ),
  repeated('an operation that is safe to repeat after 503', CREATE_TOKEN, [failure(503), failure(503)]),
  repeated('an operation that is safe to repeat after a lost connection', CREATE_TOKEN, ['lost']),
  ...[502, 504, 522].map((status) =>
    repeated(`a request after a response of a proxy with ${status}`, CREATE_TOKEN, [page(status)]),
  ),
  repeated('a request once after 500', CREATE_TOKEN, [failure(500, { error_code: 'INTERNAL_ERROR' })]),
  {
    title: 'does not repeat a request twice after 500',
    call: CREATE_TOKEN,
    answers: [500, 500].map((status) => failure(status, { error_code: 'INTERNAL_ERROR' })),
    outcome: failed({ status: 500 }),
    requests: sent(2),
  },
  {
    title: 'repeats a request no more than twice',
    call: CREATE_TOKEN,
    answers: [503, 503, 503].map((status) => failure(status)),
    outcome: failed({ status: 503, errorCode: 'SERVICE_UNAVAILABLE' }),
    requests: sent(3),
  },
  ...[502, 503].map((status) =>
    reported(`an operation that is never safe after ${status}`, APPLY, failure(status), { status }),
  ),
  reported('an operation that is never safe after a lost connection', APPLY, 'lost', {
    kind: 'ConnectionError',
    operation: 'submitJobApplication',
  }),
  reported(
    'an operation that is never safe, even with an idempotency key',
    { ...APPLY, options: { idempotencyKey: 'k' } },
    failure(503),
    { status: 503 },
  ),
  reported(
    'a query that takes too long',
    { operation: 'getRequestLog', path: ['id'] },
    failure(504, { error_code: 'REQUEST_LOG_QUERY_TIMEOUT' }),
    { status: 504 },
  ),
  reported(
    'a request if the service asks for too long a wait',
    CREATE_TOKEN,
    failure(429, { retry_after: 61 }),
    {
      retryAfter: 61,
    },
  ),
  ...['Tue, 31 Jan 2090 08:15:30 GMT', '9'.repeat(20)].map((header) =>
    reported(
      `a request after a Retry-After of "${header}"`,
      CREATE_TOKEN,
      failure(429, {}, { 'retry-after': header }),
    ),
  ),
  ...[
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
    'soon',
    '-1',
    '1.5',
    '',
  ].map((header) =>
    repeated(`a request after a Retry-After of "${header}"`, CREATE_TOKEN, [
      failure(429, {}, { 'retry-after': header }),
    ]),
  ),
  reported(
    'a conflict',
    { operation: 'createSession', body: { type: 'link', external_user_id: 'u' } },
    failure(409),
    {
      status: 409,
    },
  ),
  repeated(
    'publishing an event with an idempotency key',
    { operation: 'publishEvent', body: { ...EVENT, idempotency_key: 'k' } },
    [failure(503)],
  ),
  repeated(
    'publishing events that all have idempotency keys',
    { operation: 'publishEvents', body: { events: [{ ...EVENT, idempotency_key: 'k' }] } },
    [failure(503)],
  ),
  reported(
    'publishing events of which one has no idempotency key',
    { operation: 'publishEvents', body: { events: [{ ...EVENT, idempotency_key: 'k' }, EVENT] } },
    failure(503),
    { status: 503 },
  ),
  {
    title:
      'repeats creating an endpoint with the same idempotency key, also while another request is in progress',
    call: { ...ENDPOINT, options: { idempotencyKey: 'k' } },
    answers: [failure(503), ONGOING, ANY],
    requests: [1, 2, 3].map(() => ({ headers: expect.objectContaining({ 'idempotency-key': 'k' }) })),
  },
  {
    title: 'makes an idempotency key where repeating a request would not be safe otherwise',
    call: ENDPOINT,
    answers: [failure(503), ANY],
    requests: [1, 2].map(() => ({
      headers: expect.objectContaining({ 'idempotency-key': expect.stringMatching(/^[\da-f-]{36}$/) }),
    })),
  },
];

const SECRET = 'mcs_dev_secret';
const BODY = Buffer.from(
  JSON.stringify({
    event: 'CARD_UPDATED',
    session_id: 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584',
    data: { card_id: 'é' },
  }),
);

/** Signs as the service does. */
const signed = (changes: Partial<Parameters<typeof deliveryHeaders>[0]> = {}): Record<string, string> =>
  deliveryHeaders({
    eventId: '0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1',
    event: 'CARD_UPDATED',
    sessionId: 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584',
    body: BODY,
    now: new Date(),
    secret: SECRET,
    ...changes,
  });

const { 'Content-Length': _length, ...SIGNED } = signed();
const lowerCase = Object.fromEntries(
  Object.entries(SIGNED).map(([name, value]) => [name.toLowerCase(), value]),
);
const without = (name: string): Record<string, string> =>
  Object.fromEntries(Object.entries(SIGNED).filter(([key]) => key !== name));
const aged = (seconds: number): Record<string, string> =>
  signed({ now: new Date(Date.now() + seconds * 1000) });
const withOthers = (count: number, other: string): Record<string, string> => ({
  ...SIGNED,
  'webhook-signature': [...Array.from({ length: count }, () => other), SIGNED['webhook-signature']].join(' '),
});

const HMAC = generateKey('hmac').sealable;
const PAIR = generateKey('ed25519');
const PUBLIC = String(PAIR.publicKey);
const KEYS = { hmac: HMAC, ed25519: PUBLIC };
const SIGNERS = { hmac: signerOf('hmac', HMAC), ed25519: signerOf('ed25519', PAIR.sealable) };
const KINDS = ['hmac', 'ed25519'] as const;

type Verified = Partial<NonNullable<SdkCall['verify']>>;
const verified = (changes: Verified): SdkCall => ({
  verify: { body: BODY.toString('base64'), headers: SIGNED, secret: SECRET, ...changes },
});
const accepted = (title: string, changes: Verified, event: object = { data: { card_id: 'é' } }): SdkCase => ({
  title: `accepts a webhook ${title}`,
  call: verified(changes),
  outcome: { result: expect.objectContaining(event) as object },
});
const rejected = (reason: string, title: string, changes: Verified): SdkCase => ({
  title: `rejects a webhook ${title}`,
  call: verified(changes),
  outcome: failed({ kind: 'SignatureError', reason }),
});
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const ROTATED = signed({ secret: 'old', otherSecrets: ['new'] });
const STATUS = Buffer.from('{"event":"MERCHANT_STATUS_UPDATE"}');

const WEBHOOKS: readonly SdkCase[] = [
  accepted('with both signatures', {}),
  accepted('whose headers have names in lower case', { headers: lowerCase }),
  accepted(
    'without a session',
    {
      body: STATUS.toString('base64'),
      headers: signed({ event: 'MERCHANT_STATUS_UPDATE', sessionId: null, body: STATUS }),
    },
    { event: 'MERCHANT_STATUS_UPDATE' },
  ),
  rejected('signature', 'with a changed body', { body: base64(BODY.toString().replace('é', 'ö')) }),
  rejected('signature', 'with another secret', { secret: 'another' }),
  rejected('signature', 'with a changed ID', { headers: { ...SIGNED, 'webhook-id': 'x' } }),
  rejected('service_signature', 'with a wrong Service-Signature', {
    headers: { ...SIGNED, 'Service-Signature': signed({ sessionId: null })['Service-Signature'] ?? '' },
  }),
  rejected('service_signature', 'with a Service-Signature that is none', {
    headers: { ...SIGNED, 'Service-Signature': '%' },
  }),
  ...[-400, 400].flatMap((seconds) => [
    rejected('timestamp', `that is ${seconds} s off`, { headers: aged(seconds) }),
    accepted(`that is ${seconds} s off, if any age is accepted`, { headers: aged(seconds), tolerance: null }),
  ]),
  rejected('timestamp', 'whose time is not a number', {
    headers: { ...SIGNED, 'webhook-timestamp': 'soon' },
  }),
  ...['webhook-id', 'webhook-timestamp', 'webhook-signature', 'Service-Signature'].map((name) =>
    rejected('missing_header', `without the header ${name}`, { headers: without(name) }),
  ),
  ...['old', 'new', ['old', 'new']].map((secret) =>
    accepted(`during a rotation, by a receiver with ${JSON.stringify(secret)}`, { headers: ROTATED, secret }),
  ),
  rejected('signature', 'during a rotation with neither secret', { headers: ROTATED, secret: 'other' }),
  ...[null, '', [], [null, '']].map((secret) => ({
    title: `requires a secret, not ${JSON.stringify(secret)}`,
    call: verified({ secret }),
    outcome: failed({ kind: 'InvalidArgument', message: expect.stringContaining('The secret is missing.') }),
  })),
  accepted('with the second secret of a rotation that has ended', { secret: [SECRET, null] }),
  ...[
    '',
    'v1,',
    'v1,AAAA',
    `${SIGNED['webhook-signature']}=`,
    `v1a,${'A'.repeat(44)}`,
    `v1,${'A'.repeat(44)}`,
  ].flatMap((other) => [
    accepted(`after 9 signatures like "${other}"`, { headers: withOthers(9, other) }),
    rejected('signature', `after 10 signatures like "${other}"`, { headers: withOthers(10, other) }),
  ]),
  accepted('at the age that is just accepted', { headers: aged(-400), tolerance: 100_000 }),
  rejected('timestamp', 'older than the age that is accepted', { headers: aged(-400), tolerance: 10 }),
  ...KINDS.flatMap((kind) => {
    const headers = signed({ signers: [SIGNERS[kind]] });
    const { 'Service-Signature': _service, ...withoutService } = headers;
    const otherKey = generateKey(kind);
    const other = otherKey.publicKey ?? otherKey.sealable;
    return [
      accepted(`with the ${kind} key of an endpoint`, { headers, secret: KEYS[kind] }),
      accepted(`with the ${kind} key, without Service-Signature`, {
        headers: withoutService,
        secret: KEYS[kind],
      }),
      accepted(`with the ${kind} key from a file with a line end`, { headers, secret: `${KEYS[kind]}\n` }),
      accepted(`with one of several ${kind} keys`, { headers, secret: [other, SECRET, KEYS[kind]] }),
      rejected('signature', `with another ${kind} key`, { headers, secret: other }),
      rejected('signature', `with the ${kind} key, by a receiver with the client secret`, { headers }),
      rejected('signature', `with a changed body and the ${kind} key`, {
        headers,
        secret: KEYS[kind],
        body: base64(BODY.toString().replace('é', 'ö')),
      }),
      rejected('timestamp', `that is too old, with the ${kind} key`, {
        headers: signed({ signers: [SIGNERS[kind]], now: new Date(Date.now() - 400_000) }),
        secret: KEYS[kind],
      }),
      ...[KEYS[kind], SECRET].map((secret) =>
        accepted(`during a change from the client secret to the ${kind} key, with ${secret.slice(0, 5)}`, {
          headers: signed({ signers: [undefined, SIGNERS[kind]] }),
          secret,
        }),
      ),
    ];
  }),
  ...['v1a,%', 'v1a,', 'v1a,é', `v1,${'A'.repeat(86)}==`].map((signature) =>
    rejected('signature', `with the signature "${signature}" and a public key`, {
      headers: { ...SIGNED, 'webhook-signature': signature },
      secret: PUBLIC,
    }),
  ),
  ...['whsec_', 'whsec_%', 'whsec_…', 'whsec_YQ==', `whsec_${'A'.repeat(31)}=`, 'whpk_', 'whpk_AAAA'].map(
    (secret) => ({
      title: `refuses the key ${secret} of an endpoint`,
      call: verified({ secret }),
      outcome: failed({ kind: 'InvalidArgument', message: expect.stringContaining('is malformed.') }),
    }),
  ),
  {
    // In its place, a receiver could sign webhooks. It must not have it.
    title: 'refuses a private key',
    call: verified({ headers: signed({ signers: [SIGNERS.ed25519] }), secret: PAIR.sealable }),
    outcome: failed({ kind: 'InvalidArgument', message: expect.stringContaining('Give the public key') }),
  },
  rejected('body', 'whose body is no event', {
    body: base64('[]'),
    headers: signed({ body: Buffer.from('[]') }),
  }),
];

const SIGNED_AT = 1_710_864_923;
const signing = (secret: string | readonly string[]): SdkCall => ({
  sign: { body: BODY.toString(), secret, id: 'm', timestamp: SIGNED_AT },
});
const signs = (title: string, secret: string | readonly string[], expected: object): SdkCase => {
  const now = new Date(SIGNED_AT * 1000);
  const { 'User-Agent': _agent, ...headers } = signed({ eventId: 'm', now, ...expected });
  const isSecret = [secret].flat().some((each) => !each.startsWith('wh'));
  const service = isSecret ? {} : { 'Service-Signature': expect.stringMatching(/^[\w+/]{43}=$/) as string };
  return { title: `signs ${title}`, call: signing(secret), outcome: { result: { ...headers, ...service } } };
};

/** The headers that the service sends, for tests of receivers. */
const SIGNATURES: readonly SdkCase[] = [
  signs('with the client secret', SECRET, {}),
  signs('with both secrets of a rotation', ['old', 'new'], { secret: 'old', otherSecrets: ['new'] }),
  signs('with the secret of an endpoint', HMAC, { signers: [SIGNERS.hmac] }),
  signs('with a private key', PAIR.sealable, { signers: [SIGNERS.ed25519] }),
  signs('with the client secret and the keys of an endpoint', [SECRET, HMAC, PAIR.sealable], {
    signers: [undefined, SIGNERS.hmac, SIGNERS.ed25519],
  }),
  signs('with a secret from a file with a line end', `${SECRET}\n`, {}),
  ...['', ' ', [], ['']].map((secret) => ({
    title: `does not sign without a secret, ${JSON.stringify(secret)}`,
    call: signing(secret),
    outcome: failed({ kind: 'InvalidArgument', message: expect.stringContaining('The secret is missing.') }),
  })),
  ...['whsec_', 'whsec_YQ==', 'whsk_AAAA'].map((secret) => ({
    title: `does not sign with the key ${secret}`,
    call: signing(secret),
    outcome: failed({ kind: 'InvalidArgument', message: expect.stringContaining('is malformed.') }),
  })),
  {
    title: 'does not sign with a public key',
    call: signing(PUBLIC),
    outcome: failed({ kind: 'InvalidArgument', message: expect.stringContaining('cannot sign') }),
  },
];

export const SDK_CASES: readonly SdkCase[] = [
  ...REQUESTS,
  ...LISTS,
  ...FEED,
  ...OBSERVED,
  ...ERRORS,
  ...RETRIES,
  ...WEBHOOKS,
  ...SIGNATURES,
];
