import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { mcpToken, META, sendRpc, toolCall, type RpcResponse } from '../../support/agents/agents.js';
import { useTestApp } from '../../support/test-app.js';

const RUNS = { numRuns: 200, interruptAfterTimeLimit: 20_000 };
const GUIDE = join(import.meta.dirname, '..', '..', '..', 'docs', 'agent-connector-reference.md');

const service = useTestApp();
let token: string;
/** Pairs of a status and a JSON-RPC error code, such as `400 -32600`; the code of other responses is a dash. */
let documented: ReadonlySet<string>;
const received = new Set<string>();

beforeAll(async () => {
  const rows = readFileSync(GUIDE, 'utf8').matchAll(/^\| (\d{3}) +\| (?:`(-\d+)`|–) +\|/gm);
  documented = new Set([...rows].map(([, status, code = '–']) => `${status} ${code}`));
  token = await mcpToken(service, 'user-1');
});

/** Sends a body, whose response must be documented and no error of the service. */
async function send(body: unknown, headers: Record<string, string> = {}): Promise<RpcResponse> {
  const response = await sendRpc(service, body, { authorization: `Bearer ${token}`, ...headers });
  const { status, message } = response;
  const pair = `${status} ${message?.error?.code ?? '–'}`;
  expect(status).toBeLessThan(500);
  expect([...documented]).toContain(pair);
  received.add(pair);
  // The response to a batch of revision 2025-03-26 is a list.
  for (const each of [message ?? []].flat()) expect(each).toMatchObject({ jsonrpc: '2.0' });
  // Messages are sentences, but may quote a header.
  const quoted = Object.values(headers).filter((value) => value !== '');
  const own = quoted.reduce((text, value) => text.replaceAll(value, ''), message?.error?.message ?? '');
  expect(own).not.toMatch(/[[{]\s*"/);
  return response;
}

const METHODS = [
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'server/discover',
  'subscriptions/listen',
  'resources/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'notifications/initialized',
  'notifications/cancelled',
  'tasks/get',
  'sampling/createMessage',
  '__proto__',
];
const TOOLS = [
  'get_connection_info',
  'search_merchants',
  'search_detected_accounts',
  'list_merchant_accounts',
  'create_sign_in_link',
  'get_sign_in_link',
  'cancel_sign_in_link',
  'toString',
  '__proto__',
];
const REVISIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '1990-01-01'];

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom('\0', '\ud83d', ' ', "'; DROP TABLE mcp_token; --", 'constructor'),
);
const anyJson = fc.oneof(
  fc.jsonValue({ stringUnit: 'binary' }),
  anyText,
  fc.constantFrom(null, -0, 1e308, 2 ** 53, [], {}),
);
const mostly = (usual: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: anyJson });
/** Any of these members may be absent. */
const someOf = (members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> =>
  fc.record(members, { requiredKeys: [] });

const anyMethod = mostly(fc.constantFrom(...METHODS));
const anyMeta = fc.oneof(
  fc.constant(META),
  anyJson,
  someOf({
    'io.modelcontextprotocol/protocolVersion': fc.oneof(fc.constantFrom(...REVISIONS), anyJson),
    'io.modelcontextprotocol/clientInfo': anyJson,
    'io.modelcontextprotocol/clientCapabilities': anyJson,
    progressToken: anyJson,
  }),
);
const anyArguments = fc.oneof(
  anyJson,
  someOf({
    names: fc.oneof(fc.array(anyText), anyJson),
    query: anyJson,
    limit: anyJson,
    cursor: anyJson,
    link_id: anyJson,
    merchant_id: anyJson,
  }),
);
const anyParams = mostly(
  someOf({
    name: mostly(fc.constantFrom(...TOOLS)),
    arguments: anyArguments,
    _meta: anyMeta,
    protocolVersion: fc.oneof(fc.constantFrom(...REVISIONS), anyJson),
    capabilities: anyJson,
    clientInfo: anyJson,
  }),
);
/** Usually a request or a notification, so that more than the envelope is tested. */
const anyMessage = mostly(
  fc.record(
    { jsonrpc: mostly(fc.constant('2.0')), method: anyMethod, id: mostly(fc.integer()), params: anyParams },
    { requiredKeys: ['jsonrpc', 'method'] },
  ),
);
/** Any members of requests, notifications and responses, together. */
const anyMembers = someOf({
  jsonrpc: mostly(fc.constant('2.0')),
  id: fc.oneof(fc.integer(), anyText, anyJson),
  method: anyMethod,
  params: anyParams,
  result: anyJson,
  error: anyJson,
});

const anyHeader = fc.oneof(
  fc.constantFrom(...METHODS, ...TOOLS, ...REVISIONS, '=?base64?eA==?=', '=?base64?!?='),
  fc.string({ maxLength: 60 }).map((text) => text.replaceAll(/[^\x20-\x7E]/g, '~').trim()),
);
const anyHeaders = someOf({
  'mcp-protocol-version': fc.oneof(fc.constantFrom(...REVISIONS), anyHeader),
  'mcp-method': anyHeader,
  'mcp-name': anyHeader,
  'mcp-session-id': anyHeader,
  'mcp-param-query': anyHeader,
  'last-event-id': anyHeader,
}) as fc.Arbitrary<Record<string, string>>;
const anyMediaTypes = someOf({
  accept: fc.constantFrom('*/*', 'application/json', 'text/event-stream', 'text/html', ''),
  'content-type': fc.constantFrom(
    'application/json',
    'application/json; charset=utf-16',
    'application/json-rpc',
    'text/plain',
    '',
  ),
  'content-encoding': fc.constantFrom('gzip', 'identity', 'x'),
}) as fc.Arbitrary<Record<string, string>>;

describe('The agent connector', () => {
  it('survives any message with any headers', async () => {
    const property = fc.asyncProperty(
      fc.oneof({ weight: 9, arbitrary: anyMessage }, { weight: 1, arbitrary: anyMembers }),
      anyHeaders,
      async (message, headers) => void (await send(message, headers)),
    );
    await fc.assert(property, RUNS);
  });

  it('survives any parameters of any method of the current revision', async () => {
    const property = fc.asyncProperty(
      fc.constantFrom(...METHODS),
      anyParams,
      anyMeta,
      async (method, params, meta) => {
        const { name } = { ...(params as object) } as { name?: unknown };
        const message = { jsonrpc: '2.0', id: 1, method, params: { ...(params as object), _meta: meta } };
        await send(message, {
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': method,
          ...(typeof name === 'string' && /^\w+$/.test(name) && { 'mcp-name': name }),
        });
      },
    );
    await fc.assert(property, RUNS);
  });

  it('survives any arguments of any tool', async () => {
    const property = fc.asyncProperty(
      fc.constantFrom(...TOOLS),
      anyArguments,
      async (tool, input) => void (await send(toolCall(tool, input as object))),
    );
    await fc.assert(property, RUNS);
  });

  it('survives any text and bytes of any media type', async () => {
    const body = fc.oneof(anyText, fc.json(), fc.uint8Array({ maxLength: 300 }));
    const property = fc.asyncProperty(body, anyMediaTypes, async (text, headers) => {
      await send(text, headers);
    });
    await fc.assert(property, RUNS);
  });

  it('survives messages of any size', async () => {
    for (const length of [1, 65_536, 520_000, 524_288, 1_000_000]) {
      const { status } = await send(toolCall('search_merchants', { query: 'x'.repeat(length) }));
      expect([length, status]).toEqual([length, length < 524_288 ? 200 : 413]);
    }
  });

  it('acknowledges any notification', async () => {
    const property = fc.asyncProperty(fc.stringMatching(/^notifications\/\w{1,40}$/), async (method) => {
      expect((await send({ jsonrpc: '2.0', method })).status).toBe(202);
    });
    await fc.assert(property, { numRuns: 20 });
  });

  it('gave most kinds of documented responses', () => {
    expect([...received]).toEqual(
      expect.arrayContaining([
        '200 –',
        '200 -32601',
        '200 -32602',
        '202 –',
        '400 -32020',
        '400 -32600',
        '400 -32602',
        '400 -32700',
        '404 -32601',
        '413 -32000',
        '415 -32000',
      ]),
    );
  });
});
