import { createServer, request as forward, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { ALL_TOOLS, CLIENTS, mcpToken } from '../support/agents/agents.js';
import { Browser, decide, freshAddress, GRANT, startFlow } from '../support/logins/device-flow.js';
import { Program } from '../support/programs/program.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { newKeys, startTestApp, type Login, type TestApp } from '../support/test-app.js';

const TIMEOUT = 90_000;
const DASHBOARD_URL = 'https://dashboard.example.com';
const KEYS = newKeys();

let service: TestApp;
let user: Login;
let baseUrls: string[];

beforeAll(async () => {
  service = await startTestApp({ ...KEYS, DASHBOARD_URL, TRUSTED_PROXY_HOPS: '1' });
  user = await service.login('member');
  const environment = {
    ...KEYS,
    DASHBOARD_URL,
    DATABASE_URL: service.database.url,
    DATA_DIR: service.dataDirectory,
    PORT: '0',
    // On a busy machine, one of 25 concurrent requests may wait longer than two seconds for a connection.
    DATABASE_CONNECT_TIMEOUT_MS: '10000',
  };
  const programs = [new Program('main.js', { environment }), new Program('main.js', { environment })];
  baseUrls = await Promise.all(
    programs.map(async (program) => (await program.waitForOutput(/^Listening on (\S+)\. /m))[1] ?? ''),
  );
}, TIMEOUT);
afterAll(async () => {
  await Program.endAll();
  await service.close();
});

describe('Concurrent requests to two processes', () => {
  it(
    'redeem a code exactly once',
    async () => {
      for (let round = 0; round < 3; round += 1) {
        const flow = await startFlow(service);
        await decide(service, user, flow.user_code);
        const responses = await Promise.all(
          Array.from({ length: 50 }, async (_, index) => {
            const response = await fetch(`${baseUrls[index % 2]}/oauth/token`, {
              method: 'POST',
              body: new URLSearchParams({
                grant_type: GRANT,
                client_id: service.development.clientId,
                device_code: flow.device_code,
              }),
            });
            return { status: response.status, body: (await response.json()) as Record<string, unknown> };
          }),
        );
        const won = responses.filter(({ status }) => status === 200);
        expect(won).toHaveLength(1);
        for (const { status, body } of responses) {
          if (status !== 200) expect([status, body['error']]).toEqual([400, 'invalid_grant']);
        }
        const token = String(won[0]?.body['access_token']);
        rememberSecret(token);
        for (const baseUrl of [...baseUrls, service.baseUrl]) {
          const headers = { authorization: `Bearer ${token}` };
          expect((await fetch(`${baseUrl}/me`, { headers })).status).toBe(200);
        }
      }
    },
    TIMEOUT,
  );

  it(
    'record exactly one decision on a device',
    async () => {
      for (let round = 0; round < 3; round += 1) {
        const flow = await startFlow(service);
        const finder = new Browser(service.baseUrl, user, { 'x-forwarded-for': freshAddress() });
        await finder.open('/device');
        const { location } = await finder.send('/device', { user_code: flow.user_code });
        const request = new URL(location ?? '', service.baseUrl).searchParams.get('request') ?? '';
        const before = await decisions();
        const browsers = await Promise.all(
          Array.from({ length: 50 }, async (_, index) => {
            const browser = new Browser(baseUrls[index % 2] ?? '', user);
            await browser.open(location ?? '');
            return browser;
          }),
        );
        const pages = await Promise.all(
          browsers.map((browser, index) =>
            browser.send('/device/confirm', { request, decision: index % 3 === 0 ? 'approve' : 'deny' }),
          ),
        );
        expect(pages.map(({ status }) => status)).toEqual(Array(50).fill(303));
        const added = (await decisions()).slice(before.length);
        expect(added).toHaveLength(1);
        const [row] = await service.database.query<{ status: string }>(
          'SELECT status FROM device_authorization WHERE id = $1',
          [request],
        );
        expect(added).toEqual([
          {
            action: row?.status === 'approved' ? 'auth.device_approve' : 'auth.device_deny',
            outcome: 'success',
            target_environment: 'development',
          },
        ]);
        const results = await Promise.all(browsers.map((browser) => browser.open(pages[0]?.location ?? '')));
        const title = row?.status === 'approved' ? 'Device approved' : 'Device declined';
        for (const { html } of results) expect(html).toContain(`<h1>${title}</h1>`);
      }
    },
    TIMEOUT,
  );

  it(
    'create exactly one first signing key',
    async () => {
      await service.database.query('DELETE FROM token_signing_key');
      const sets = await Promise.all(
        Array.from({ length: 20 }, async (_, index) => {
          const response = await fetch(`${baseUrls[index % 2]}/.well-known/jwks.json`);
          return (await response.json()) as { keys: unknown[] };
        }),
      );
      expect(new Set(sets.map((set) => JSON.stringify(set))).size).toBe(1);
      expect(sets[0]?.keys).toHaveLength(1);
      expect(await service.database.query('SELECT count(*)::int FROM token_signing_key')).toEqual([
        { count: 1 },
      ]);
    },
    TIMEOUT,
  );

  const decisions = () =>
    service.database.query(
      `SELECT action, outcome, target_environment FROM audit_log WHERE organization_id = $1
          AND action LIKE 'auth.device_%' ORDER BY sequence`,
      [service.organizationId],
    );
});

describe('Two processes behind a load balancer', () => {
  let balancer: Server;

  beforeAll(async () => {
    let turn = 0;
    balancer = createServer((incoming, outgoing) => {
      turn += 1;
      const { method = '', url: path = '', headers } = incoming;
      const outgoingRequest = forward(`${baseUrls[turn % 2]}${path}`, { method, headers }, (response) => {
        outgoing.writeHead(response.statusCode ?? 500, response.headers);
        response.pipe(outgoing);
      });
      incoming.pipe(outgoingRequest);
    });
    balancer.listen(0, '127.0.0.1');
    await once(balancer, 'listening');
  });
  afterAll(() => {
    balancer.closeAllConnections();
    balancer.close();
  });

  it.each(Object.entries(CLIENTS))('serve one conversation in turn (%s)', async (_name, connect) => {
    const token = await mcpToken(service, 'user-1');
    const { port } = balancer.address() as AddressInfo;
    const agent = await connect(`http://127.0.0.1:${port}`, token);
    for (let call = 0; call < 6; call += 1) {
      expect(await agent.tools()).toEqual(ALL_TOOLS);
      await agent.result('search_merchants', { query: 'netflix' });
    }
    await agent.close();
  });
});
