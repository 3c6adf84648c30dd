import fc from 'fast-check';
import {
  enableIdentification,
  BODY_OPERATIONS,
  CREATE_MCP_TOKEN,
  CREATE_SESSION,
  DASHBOARD_OPERATIONS,
  DISCONNECT_SANDBOX_ACCOUNT,
  IDENTIFY_DETECTED_ACCOUNTS,
  INTERNAL_CLIENT_ID,
  INTERNAL_OPERATIONS,
  LINK_SANDBOX_ACCOUNT,
  SANDBOX_OPERATIONS,
  SEARCH_DETECTED_ACCOUNTS,
  UNKNOWN_ID,
  SUBMIT_JOB_APPLICATION,
  type TestedOperation,
} from '../../support/documents/operations.js';
import { SessionsService } from '../../../src/modules/sessions/index.js';
import { samlMetadata } from '../../support/logins/saml.js';
import { issueServiceToken } from '../../support/logins/service-tokens.js';
import { useTestApp, type TestResponse, useLogin, withoutLimits } from '../../support/test-app.js';

const RUNS = { numRuns: 100, interruptAfterTimeLimit: 15_000 };
/** Fewer runs, for properties of code that many operations share. */
const FEWER_RUNS = { ...RUNS, numRuns: 40 };
/** For properties of code that all operations share, such as the one that reads a body: each run draws an operation. */
const SHARED_RUNS = { ...RUNS, numRuns: 200 };

/** The longest messages list all events. */
const MESSAGE = /^[\x20-\x7E]{5,300}$/;

/** Names that have a meaning in JavaScript or a library, and must not have one in the service. */
const LOADED_NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'toJSON',
  'hasOwnProperty',
  'then',
  'length',
  'get',
  '$ref',
  '',
];

const service = useTestApp(withoutLimits());
let serviceToken: string;

beforeAll(async () => {
  ({ token: serviceToken } = await issueServiceToken(service));
  // A client with a known ID, in an organization that has no client for this environment.
  const { id } = await service.anotherOrganization();
  await service.database.query(
    `WITH organization AS (
       INSERT INTO organization SELECT (jsonb_populate_record(found, jsonb_build_object('id', $1::uuid))).*
         FROM organization found WHERE id = $2 RETURNING id)
     INSERT INTO api_client (id, organization_id, environment, created_at)
     SELECT $1, id, 'development', now() FROM organization`,
    [INTERNAL_CLIENT_ID, id],
  );
  await enableIdentification(service);
});

/** Objects with loaded names, parsed from JSON: `{ __proto__: … }` in a literal would set the prototype. */
const loadedObject = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .array(fc.tuple(fc.constantFrom(...LOADED_NAMES), value), { minLength: 1, maxLength: 3 })
    .map((entries) => JSON.parse(objectText(entries)) as unknown);

const objectText = (entries: readonly (readonly [string, unknown])[]): string =>
  `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`;

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ maxLength: 300 }),
  fc.constantFrom('\0', '\ud83d', '\udc00x', ' ', '\uFEFF', '\u202E', "'; DROP TABLE mcp_token; --", '%s%n'),
);
const anyNumber = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.maxSafeInteger(),
  fc.constantFrom(-0, 1e308, -1e308, 5e-324, 2 ** 31, 2 ** 53, 1e21),
);
const anyJson = fc.oneof(
  { weight: 3, arbitrary: fc.jsonValue({ stringUnit: 'binary' }) },
  { weight: 2, arbitrary: anyText },
  { weight: 1, arbitrary: anyNumber },
  { weight: 2, arbitrary: loadedObject(fc.jsonValue()) },
  { weight: 1, arbitrary: loadedObject(loadedObject(fc.jsonValue())) },
  { weight: 1, arbitrary: fc.array(loadedObject(fc.jsonValue()), { maxLength: 3 }) },
);

/** Metadata with a part removed or inserted anywhere. */
const anyXml = fc
  .tuple(
    fc.nat(),
    fc.nat({ max: 40 }),
    fc.oneof(anyText, fc.constantFrom('<a>', '</a>', '<', '>', '&#0;', '&a;', '"')),
  )
  .map(([at, length, inserted]) => {
    const xml = samlMetadata();
    const start = at % xml.length;
    return xml.slice(0, start) + inserted + xml.slice(start + length);
  });

const CONTENT_TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'application/json; charset=utf-16',
  'application/json; charset=nonsense',
  'application/json;',
  'application/jsonp',
  'application/problem+json',
  'text/plain',
  'text/html; charset=utf-8',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'multipart/form-data',
  'application/octet-stream',
  '*/*',
  ';',
  'a/b/c',
];
const CONTENT_ENCODINGS = ['identity', 'gzip', 'deflate', 'br', 'zstd', 'compress', 'x', 'gzip, gzip'];

/** A user, a merchant or a session may not exist; a URL may be taken; a user may have too many links. */
const OTHER_STATUSES: Readonly<Record<string, readonly number[]>> = {
  ...Object.fromEntries([...SANDBOX_OPERATIONS, ...INTERNAL_OPERATIONS].map(({ id }) => [id, [404]])),
  disconnectSandboxAccount: [404, 409],
  createAccessGrant: [404],
  createSignInLink: [404, 429],
  createWebhookEndpoint: [409],
  updateWebhookEndpoint: [409],
  recoverWebhooks: [202],
};

/** Throws without `expect`, which would take a tenth of the time of all these requests. */
function checkResponse({ status, body }: TestResponse, allowed: readonly number[]): void {
  const isError = status >= 400;
  const hasMembers = /^error_type,error_code,error_message(?:,retry_after)?$/.test(Object.keys(body).join());
  if (allowed.includes(status) && (!isError || (hasMembers && MESSAGE.test(String(body['error_message'])))))
    return;
  throw new Error(`The response is ${status} ${JSON.stringify(body)}`);
}

/** `request` checks each response against the API document; in addition, none may be a server error. */
async function send(
  { id, path, credentials, status = 200 }: TestedOperation,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  const response = await service.request(path, {
    method: 'POST',
    body,
    headers,
    ...(credentials === 'basic' ? { as: service.development } : {}),
    ...(credentials === 'service' ? { token: serviceToken } : {}),
  });
  checkResponse(response, [status, 400, 413, 415, ...(OTHER_STATUSES[id] ?? [])]);
  return response;
}

const OPERATIONS = [...BODY_OPERATIONS, ...INTERNAL_OPERATIONS];

describe.each(OPERATIONS)('$id', (operation) => {
  const fields = Object.keys(operation.body);

  it('survives any JSON value', async () => {
    await fc.assert(
      fc.asyncProperty(anyJson, async (value) => void (await send(operation, JSON.stringify(value)))),
      { ...RUNS, examples: [[{ unknown: { constructor: {} } }], [{ constructor: 1 }], [[]], [null]] },
    );
  });

  it('survives any value in one field of a valid body', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...fields),
        fc.oneof(anyJson, fc.array(anyJson, { maxLength: 5 })),
        async (field, value) => void (await send(operation, { ...operation.body, [field]: value })),
      ),
      { ...RUNS, examples: fields.map((field) => [field, { constructor: {} }] as [string, unknown]) },
    );
  });

  it('accepts a valid body with any unknown members', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.oneof(fc.constantFrom(...LOADED_NAMES), fc.string()), anyJson), {
          minLength: 1,
          maxLength: 4,
        }),
        async (members) => {
          const unknown = members.filter(([name]) => !fields.includes(name));
          const text = objectText([...unknown, ...Object.entries(operation.body)]);
          if (operation === DISCONNECT_SANDBOX_ACCOUNT)
            await send(LINK_SANDBOX_ACCOUNT, LINK_SANDBOX_ACCOUNT.body);
          // A user gets only some links per hour.
          if (operation.id === 'createSignInLink') await service.database.query('DELETE FROM attempt_count');
          expect((await send(operation, text)).status).toBe(operation.status ?? 200);
        },
      ),
      FEWER_RUNS,
    );
  });
});

const anyOperation = fc.constantFrom(...OPERATIONS);

describe('Any operation', () => {
  it('survives any text', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyOperation,
        fc.oneof(
          anyText,
          fc.json(),
          fc.json().map((text) => text.slice(0, -1)),
        ),
        async (operation, text) => void (await send(operation, text)),
      ),
      SHARED_RUNS,
    );
  });

  it('survives any bytes of any media type and encoding', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyOperation,
        fc.option(fc.uint8Array({ maxLength: 500 }), { nil: undefined }),
        fc.constantFrom(...CONTENT_TYPES),
        fc.option(fc.constantFrom(...CONTENT_ENCODINGS), { nil: undefined }),
        async (operation, bytes = Buffer.from(JSON.stringify(operation.body)), type, encoding) =>
          void (await send(operation, bytes, {
            'content-type': type,
            ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
          })),
      ),
      SHARED_RUNS,
    );
  });

  it('rejects a valid body that is truncated anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(anyOperation, fc.nat(), async (operation, number) => {
        const text = JSON.stringify(operation.body);
        expect((await send(operation, text.slice(0, number % text.length))).status).toBe(400);
      }),
      SHARED_RUNS,
    );
  });

  it('survives numbers of any size and nesting of any depth', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyOperation,
        fc.nat(),
        fc.oneof(
          fc
            .tuple(fc.nat({ max: 999 }), fc.nat({ max: 20_000 }))
            .map(([digits, zeros]) => digits + '0'.repeat(zeros)),
          fc.integer({ min: -99_999, max: 99_999 }).map((exponent) => `-1e${exponent}`),
          fc.nat({ max: 30_000 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
          fc.nat({ max: 8_000 }).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
        ),
        async (operation, number, spelled) => {
          const fields = Object.keys(operation.body);
          const field = fields[number % fields.length] ?? '';
          const { [field]: _, ...others } = operation.body;
          const text = `{"${field}":${spelled || '[]'},${JSON.stringify(others).slice(1)}`;
          await send(operation, text);
        },
      ),
      SHARED_RUNS,
    );
  });
});

describe.each(DASHBOARD_OPERATIONS.filter(({ body }) => body !== undefined))('$id', (operation) => {
  const body = operation.body as Readonly<Record<string, unknown>>;
  const fields = Object.keys(body);
  const login = useLogin(service, 'owner');
  let path: string;

  /** Names something that exists, so that the values also reach the code behind the validation. */
  async function realPath(): Promise<string> {
    await service.database.query('DELETE FROM webhook_endpoint');
    const { body: endpoint } = await service.request('/webhook-endpoints/create', {
      body: { environment: 'development', url: 'https://fuzz.example.com/' },
      login,
    });
    if (operation.id === 'testWebhookEndpoint') {
      // An address that the service refuses to send to: the test ends at once and reaches no other host.
      await service.database.query(`UPDATE webhook_endpoint SET url = 'https://127.0.0.1/'`);
    }
    const endpointId = String(endpoint['id']);
    const ids: Readonly<Record<string, string>> = {
      updateWebhookEndpoint: endpointId,
      testWebhookEndpoint: endpointId,
      rotateWebhookEndpointKey: endpointId,
      redeliverWebhook: endpointId,
      recoverWebhooks: endpointId,
    };
    return operation.path.replace(UNKNOWN_ID, ids[operation.id] ?? '');
  }

  async function send(value: unknown): Promise<void> {
    const response = await service.request(path, { method: operation.method, body: value, login });
    checkResponse(response, [200, 400, ...(OTHER_STATUSES[operation.id] ?? [])]);
  }

  beforeAll(async () => {
    path = await realPath();
  });

  it('survives any JSON value', async () => {
    await fc.assert(
      fc.asyncProperty(anyJson, (value) => send(JSON.stringify(value))),
      FEWER_RUNS,
    );
  });

  it('survives any value in one field of a valid body', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...fields),
        fc.oneof(anyJson, fc.array(anyJson, { maxLength: 3 }), anyXml),
        (field, value) => send({ ...body, [field]: value }),
      ),
      FEWER_RUNS,
    );
  });
});

describe('An optional field', () => {
  it('is not ignored if its name is misspelled by one character (operation 1)', async () => {
    const { external_user_id } = CREATE_MCP_TOKEN.body;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('expires_in', 'phone_number'),
        fc.nat(),
        fc.constantFrom(0, 1),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((unit) => unit.length === 1),
        async (field, position, replaced, unit) => {
          const at = position % field.length;
          const name = field.slice(0, at) + unit + field.slice(at + replaced);
          fc.pre(name !== field);
          const body = `{"external_user_id":"${String(external_user_id)}",${JSON.stringify(name)}:null}`;
          const { status, body: response } = await send(CREATE_MCP_TOKEN, body);
          expect(status).toBe(400);
          expect(response['error_message']).toMatch(
            new RegExp(`^The field(?: [\\w-]+)? is not known\\. Did you mean ${field}\\?$`),
          );
        },
      ),
      RUNS,
    );
  });
});

/** Text that the service accepts: not blank, and storable. */
const acceptedText = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 256 })
  .filter((text) => text.trim() !== '' && !text.includes('\0') && text.isWellFormed());

describe('Accepted text', () => {
  it('is stored unchanged (operation 1)', async () => {
    await fc.assert(
      fc.asyncProperty(acceptedText, async (external_user_id) => {
        const { status } = await send(CREATE_MCP_TOKEN, { external_user_id });
        expect(status).toBe(200);
        const kept = await service.database.query(
          'SELECT external_user_id FROM mcp_token ORDER BY id DESC LIMIT 1',
        );
        expect(kept).toEqual([{ external_user_id }]);
      }),
      RUNS,
    );
  });

  it('is stored unchanged (operation 8)', async () => {
    await fc.assert(
      fc.asyncProperty(acceptedText, acceptedText, async (full_name, exceptional_at) => {
        const { status, body } = await send(SUBMIT_JOB_APPLICATION, {
          ...SUBMIT_JOB_APPLICATION.body,
          full_name,
          exceptional_at,
        });
        expect(status).toBe(200);
        const kept = await service.database.query(
          'SELECT full_name, exceptional_at FROM job_application WHERE id = $1',
          [body['id']],
        );
        expect(kept).toEqual([{ full_name, exceptional_at }]);
      }),
      RUNS,
    );
  });

  it('is stored unchanged (metadata of sessions)', async () => {
    const key = fc
      .oneof(acceptedText, fc.constantFrom(...LOADED_NAMES))
      .filter((name) => name !== 'constructor');
    const pairs = fc.uniqueArray(fc.tuple(key, acceptedText), { maxLength: 10, selector: ([name]) => name });
    await fc.assert(
      fc.asyncProperty(pairs, pairs, async (first, second) => {
        const text = `{"type":"link","external_user_id":"fuzz","metadata":${objectText(first)}}`;
        const { status, body } = await send(CREATE_SESSION, text);
        expect(status).toBe(200);
        const session = String(body['session']);
        const opened = await service.request('/session/open', {
          body: `{"session_id":"${session}","metadata":${objectText(second)}}`,
        });
        const merged = new Map([...first, ...second]);
        expect(opened.status).toBe(merged.size <= 10 ? 200 : 400);
        const expected = [...(opened.status === 200 ? merged : first)];
        const kept = await service.app
          .get(SessionsService, { strict: false })
          .detailsOf(service.development.clientId, session);
        expect(Object.entries(kept?.metadata ?? {}).toSorted()).toEqual(expected.toSorted());
      }),
      RUNS,
    );
  });

  it.each<[string, TestedOperation]>([
    ['names', SEARCH_DETECTED_ACCOUNTS],
    ['name', IDENTIFY_DETECTED_ACCOUNTS],
  ])('is returned unchanged in %s', async (field, operation) => {
    await fc.assert(
      fc.asyncProperty(
        acceptedText,
        fc.array(acceptedText, { minLength: 1, maxLength: 20 }),
        async (user, names) => {
          const { status, body } = await send(operation, { external_user_id: user, [field]: names });
          expect(status).toBe(200);
          expect(body).toEqual(names.map((name) => ({ name, detected: false, detected_at: null })));
        },
      ),
      RUNS,
    );
  });
});
