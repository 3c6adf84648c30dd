import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiKeysService } from '../../src/modules/api-keys/index.js';
import { eventually } from '../support/eventually.js';
import { committed } from '../support/documents/documents.js';
import { accessToken } from '../support/logins/device-flow.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { SDK_CASES, type Answer, type SdkCall } from '../support/sdks/sdk-cases.js';
import { Sdk, SDKS } from '../support/sdks/sdks.js';
import { useTestApp } from '../support/test-app.js';
import { startReceiver } from '../support/webhooks/webhook-receiver.js';

interface Received {
  readonly method: string;
  readonly url: string;
  /** The decoded segments of the path. */
  readonly segments: readonly string[];
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Schema {
  readonly $ref?: string;
  readonly example?: unknown;
  readonly properties?: Record<string, Schema>;
  readonly required?: readonly string[];
  readonly oneOf?: readonly Schema[];
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: RequestBody;
}

interface RequestBody {
  readonly $ref?: string;
  readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
}

const service = useTestApp({ WEBHOOK_TARGETS: 'any' }, { backgroundWork: true });
const document = JSON.parse(committed('openapi.json')) as {
  readonly paths: Record<string, Record<string, Operation | readonly Parameter[]>>;
};
const OPERATIONS = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([, operation]) => !Array.isArray(operation))
    .map(([method, operation]) => ({ path, method, ...(operation as Operation) })),
);
/** Agents call the operations of the agent connector, with their own OAuth libraries. */
const NOT_COVERED = 'Agent connector · ';
const COVERED = OPERATIONS.filter(({ tags }) => !tags[0]?.startsWith(NOT_COVERED));

let server: Server;
let url: string;
let answers: Answer[] = [];
let requests: Received[] = [];

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const { method = '', url: target = '', headers } = request;
    const [path = ''] = target.split('?');
    const segments = path.split('/').map(decodeURIComponent);
    requests.push({ method, url: target, segments, headers, body: await text(request) });
    const answer = answers.shift() ?? { status: 418 };
    if (answer === 'none') return;
    if (answer === 'lost') return void request.socket.destroy();
    const { delay = 0, status = 200, headers: given = {}, body = '' } = answer;
    await sleep(delay);
    const type = typeof body === 'string' ? {} : { 'content-type': 'application/json' };
    response.writeHead(status, { ...type, ...given, connection: 'close' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  [answers, requests] = [[], []];
});

const resolved = <Value extends { readonly $ref?: string }>(value: Value): Value => {
  if (value.$ref === undefined) return value;
  const found = value.$ref
    .slice(2)
    .split('/')
    .reduce(
      (part, name) => (part as Record<string, object>)[name.replaceAll('~1', '/')]!,
      document as object,
    );
  return resolved(found as Value);
};

const exampleOf = (name: string, schema: Schema): unknown =>
  schema.example ?? resolved(schema).example ?? `an example of ${name}`;

/** Returns a call with the required parameters and fields of an operation. */
function callOf({ operationId, path, parameters = [], requestBody }: (typeof OPERATIONS)[number]): SdkCall {
  const all = [...((document.paths[path]?.parameters as Parameter[] | undefined) ?? []), ...parameters].map(
    resolved,
  );
  const inQuery = all.filter((each) => each.in === 'query' && each.required);
  const { content } = resolved<RequestBody>(requestBody ?? { content: {} });
  const schema = resolved(Object.values(content)[0]?.schema ?? {});
  const { properties = {}, required = [] } = resolved(schema.oneOf?.[0] ?? schema);
  const body = Object.fromEntries(required.map((name) => [name, exampleOf(name, properties[name] ?? {})]));
  // A feed has a cursor, too, but no end.
  const isPaged = operationId.startsWith('list') && all.some(({ name }) => name === 'cursor');
  return {
    operation: operationId,
    path: all.filter((each) => each.in === 'path').map(({ name }) => `the ${name}`),
    ...(all.some((each) => each.in === 'query') && {
      query: Object.fromEntries(inQuery.map(({ name, schema: own }) => [name, exampleOf(name, own)])),
    }),
    ...(requestBody && { body }),
    ...(isPaged && { list: 'first' as const }),
  };
}

describe.each(SDKS)('The SDK for %s', (name) => {
  let sdk: Sdk;
  const isPython = name.startsWith('Python');

  beforeAll(async () => {
    sdk = await Sdk.start(name);
  }, 60_000);
  afterAll(() => sdk.end());

  const outcomeOf = (call: SdkCall, options: object = {}): Promise<unknown> => {
    const credentials = {
      clientId: 'id',
      clientSecret: 'secret',
      accessToken: 'jwt',
      serviceToken: 'service',
    };
    return sdk.outcomeOf({ ...call, client: { baseUrl: url, ...credentials, ...options, ...call.client } });
  };

  const cases = SDK_CASES.filter(
    ({ only, needs }) =>
      (only === undefined || isPython) &&
      (needs === undefined || OPERATIONS.some(({ operationId }) => operationId === needs)),
  );

  it.each(cases)(
    '$title',
    async ({ call, answers: given = [], outcome = { result: {} }, requests: expected }) => {
      answers = [...given];
      expect(await outcomeOf(call)).toEqual(outcome);
      if (expected) expect(requests).toMatchObject(expected);
    },
  );

  it('has a method for each operation of the API document, and no other', async () => {
    const { result } = (await outcomeOf({ operation: 'names' })) as { result: string[] };
    const expected = COVERED.map(({ operationId }) =>
      isPython ? operationId.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : operationId,
    );
    // Iterators over feeds are no operations.
    const operations = result.filter((each) => !each.startsWith('follow_'));
    expect(operations.toSorted()).toEqual(expected.toSorted());
  });

  it.each(COVERED.map((operation) => [operation.operationId, operation] as const))(
    'sends %s as the API document describes it',
    async (_id, operation) => {
      const call = callOf(operation);
      const isStream = operation.operationId === 'streamWebhooks';
      answers = [
        isStream
          ? { headers: { 'content-type': 'text/event-stream' } }
          : { body: call.list ? { data: [], next_cursor: null, limit: 1 } : {} },
      ];
      expect(await outcomeOf(call)).toHaveProperty('result');
      const schemes = operation.security.map((each) => Object.keys(each)[0] ?? 'none');
      const headers = { basic: /^Basic /, bearer: /^Bearer jwt$/, 'service-token': /^Bearer service$/ };
      const [, authorization] = Object.entries(headers).find(([scheme]) => schemes.includes(scheme)) ?? [];
      const [received] = requests;
      const { searchParams } = new URL(received?.url ?? '', url);
      const type = String(received?.headers['content-type']);
      const body: unknown = type.startsWith('application/json')
        ? JSON.parse(received?.body ?? '')
        : Object.fromEntries(new URLSearchParams(received?.body));
      expect([received?.method.toLowerCase(), received?.segments.join('/')]).toEqual([
        operation.method,
        operation.path.replaceAll(/\{(\w+)\}/g, 'the $1'),
      ]);
      expect(Object.fromEntries(searchParams)).toEqual(call.query ?? {});
      expect(body).toEqual(call.body ?? {});
      if (operation.requestBody && Object.keys(call.body ?? {}).length > 0)
        expect(Object.keys(resolved(operation.requestBody).content)).toContain(type.split(';')[0]);
      if (authorization) expect(received?.headers.authorization).toMatch(authorization);
      else expect(received?.headers).not.toHaveProperty('authorization');
    },
  );

  it('works with the service with an API key, on both APIs', async () => {
    const { stored, token } = await service.app
      .get(ApiKeysService)
      .create(service.development.clientId, { name: `key of ${name}`, scopes: ['mcp_tokens:write'] });
    rememberSecret(token);
    const { clientId } = service.development;
    const options = { baseUrl: service.baseUrl, clientId, apiKey: token, accessToken: undefined };
    const create = { operation: 'createMcpToken', body: { external_user_id: 'u' } };
    expect(await outcomeOf(create, options)).toMatchObject({ result: { token: expect.any(String) } });
    expect(await outcomeOf({ operation: 'getCurrentUser' }, options)).toMatchObject({
      result: { id: stored.id },
    });
  });

  it('works with the service: tokens, lists, errors, endpoints and webhooks', async () => {
    const receiver = await startReceiver();
    const { clientId, secret } = service.development;
    const options = {
      baseUrl: service.baseUrl,
      clientId,
      clientSecret: secret,
      accessToken: await accessToken(service, await service.login('owner')),
    };
    const call = async <Result>(sent: SdkCall): Promise<Result> =>
      ((await outcomeOf(sent, options)) as { result: Result }).result;
    const user = `sdk-${name.replaceAll(' ', '-')}`;
    const create = { operation: 'createMcpToken', body: { external_user_id: user, expires_in: 60 } };
    const repeatable = { ...create, options: { idempotencyKey: `key-of-${user}` } };
    const tokens: { token: string }[] = [await call(repeatable), await call(repeatable), await call(create)];
    expect(tokens.map(({ token }) => token === tokens[0]?.token)).toEqual([true, true, false]);

    // More entries than fit on a page.
    const query = { environment: 'development', external_user_id: user, limit: 2 };
    const entries = await eventually('the request log has the requests', async () => {
      const found = await call<object[]>({ operation: 'listRequestLogs', query, list: 'all' });
      return found.length >= 3 ? found : undefined;
    });
    expect(entries).toMatchObject(Array.from({ length: 3 }, () => ({ external_user_id: user })));
    expect(await call({ operation: 'listRequestLogs', query, list: 'first' })).toMatchObject({ limit: 2 });
    const invalid = { operation: 'createMcpToken', body: { external_user_id: '' } };
    expect(await outcomeOf(invalid, options)).toMatchObject({
      error: { kind: 'ApiError', status: 400, errorCode: 'INVALID_FIELD', requestId: expect.any(String) },
    });

    const endpoint = { environment: 'development', url: `${receiver.url}/${encodeURIComponent(name)}` };
    const { id } = await call<{ id: string }>({ operation: 'createWebhookEndpoint', body: endpoint });
    await call({ operation: 'updateWebhookEndpoint', path: [id], body: { description: 'SDK' } });
    expect(await call({ operation: 'getWebhookEndpoint', path: [id] })).toMatchObject({ description: 'SDK' });
    await call({ operation: 'updateWebhookEndpoint', path: [id], body: { description: null } });
    expect(await call({ operation: 'getWebhookEndpoint', path: [id] })).toMatchObject({ description: null });
    expect(
      await call({ operation: 'testWebhookEndpoint', path: [id], body: { event: 'CARD_UPDATED' } }),
    ).toMatchObject({ received: true });
    await call({ operation: 'deleteWebhookEndpoint', path: [id] });
    const { body, headers } = receiver.arrivals[0]!;
    const verify = { body: body.toString('base64'), headers: headers as Record<string, string>, secret };
    expect(await call({ verify })).toMatchObject({ event: 'CARD_UPDATED' });
    await receiver.close();
  });
});
