import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer, type Server } from 'node:tls';
import { startConnectProxy } from '../support/http/connect-proxy.js';
import { accessToken, decide } from '../support/logins/device-flow.js';
import { startFlakyProxy, type ProxyFailure } from '../support/http/flaky-proxy.js';
import {
  installClients,
  nodeVersions,
  type InstalledClients,
} from '../support/programs/installed-clients.js';
import { Program, run, type Ended } from '../support/programs/program.js';
import {
  RECEIVER_CERTIFICATES,
  RECEIVER_KEY,
  TEST_AUTHORITY,
} from '../support/webhooks/receiver-certificates.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const ROOT = join(import.meta.dirname, '..', '..');
const HOST = 'api.example.com';
const FAILURES: readonly ProxyFailure[] = [502, 504, 'reset'];
const versions = await nodeVersions();

let clients: InstalledClients;
let service: TestApp;
/** The service with https, for the names of the certificates of receivers. */
let secure: Server;
let httpsUrl: string;
/** The file with the certificate of the authority. */
let authority: string;
let homes = 0;

import.meta.jest.setTimeout(60_000);

beforeAll(async () => {
  [clients, service] = await Promise.all([installClients(), startTestApp({ WEBHOOK_TARGETS: 'any' })]);
  const { port } = new URL(service.baseUrl);
  secure = createTlsServer({ key: RECEIVER_KEY, cert: RECEIVER_CERTIFICATES.trusted }, (socket) => {
    const plain = connect(Number(port), '127.0.0.1');
    socket.on('error', () => plain.destroy()).pipe(plain);
    plain.on('error', () => socket.destroy()).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(secure, 'listening');
  httpsUrl = `https://${HOST}:${(secure.address() as AddressInfo).port}`;
  authority = join(clients.folder, 'authority.pem');
  writeFileSync(authority, TEST_AUTHORITY);
});
afterAll(async () => {
  await Program.endAll();
  secure.close();
  await service.close();
});

interface Options {
  readonly environment?: Readonly<Record<string, string>>;
  readonly home?: string;
  readonly input?: string;
  readonly node?: string;
}

const newHome = (): string => join(clients.folder, `network-home-${(homes += 1)}`);
const credentials = (): Record<string, string> => ({
  MCS_CLIENT_ID: service.development.clientId,
  MCS_CLIENT_SECRET: service.development.secret,
});

function start(words: string, { environment = {}, home = newHome(), ...options }: Options = {}): Program {
  return new Program(clients.mcs, {
    arguments: words.split(' '),
    environment: { XDG_CONFIG_HOME: home, ...credentials(), ...environment },
    ...options,
  });
}
const mcs = (words: string, options?: Options): Promise<Ended> => start(words, options).ended;

/** Runs a program that uses the SDK. `client` is a client of the service at the address. */
function runSdk(
  code: string,
  baseUrl: string,
  options: Pick<Options, 'environment' | 'node'>,
): Promise<Ended> {
  const file = join(clients.folder, `network-${(homes += 1)}.mjs`);
  writeFileSync(
    file,
    `import { MerchantConnectivity } from '@merchant-connectivity/sdk';
     const { MCS_CLIENT_ID: clientId, MCS_CLIENT_SECRET: clientSecret, accessToken } = process.env;
     const options = { baseUrl: ${JSON.stringify(baseUrl)}, clientId, clientSecret, accessToken };
     ${code}`,
  );
  return run(file, { ...options, environment: { ...credentials(), ...options.environment } });
}

// Most of these tests wait, so they run at the same time.
it.concurrent.each([...versions])(
  'On Node.js %s, clients repeat what a proxy answers with 502, 504 or a reset',
  async (_version, node) => {
    const proxy = await startFlakyProxy(service.baseUrl, (number) =>
      number % 3 === 0 ? FAILURES[(number / 3) % FAILURES.length] : undefined,
    );
    const token = await accessToken(service, await service.login());
    rememberSecret(token);
    const code = `
      const client = new MerchantConnectivity(options);
      const tokens = [];
      for (let index = 0; index < 7; index += 1)
        tokens.push(await client.createMcpToken({ external_user_id: 'flaky-' + process.version }));
      const logs = await client.listRequestLogs({ environment: 'development' });
      const { status } = await client.eraseUser({ external_user_id: '..' });
      console.log(tokens.length, logs.data.length > 0, status);`;
    const environment = { accessToken: token, MCS_BASE_URL: proxy.url, MCS_ACCESS_TOKEN: token };
    expect(await runSdk(code, proxy.url, { environment, node })).toEqual({
      code: 0,
      output: '7 true running\n',
      errors: '',
    });
    for (const words of ['tokens create --user u', 'logs list', 'merchants', 'agent --user u --tools'])
      expect([words, await mcs(words, { environment, node })]).toEqual([
        words,
        expect.objectContaining({ code: 0 }),
      ]);
    expect(proxy.requests.length).toBeGreaterThan(15);
    const ownNames = /^(?:mcs|merchant-connectivity-sdk)\/\d+\.\d+\.\d+$/;
    for (const { path, headers } of proxy.requests)
      expect([path, headers['user-agent'], headers.accept]).toEqual([
        path,
        expect.stringMatching(ownNames),
        expect.stringMatching(/^(?:application\/json|text\/event-stream)/),
      ]);
    proxy.close();
  },
);

it.concurrent.each([...versions])(
  'On Node.js %s, clients use the proxy that HTTPS_PROXY names',
  async (version, node) => {
    const proxy = await startConnectProxy();
    const environment = {
      HTTPS_PROXY: proxy.url,
      NODE_EXTRA_CA_CERTS: authority,
      MCS_BASE_URL: httpsUrl,
    };
    for (const words of ['tokens create --user u --json', 'agent --user u --tools --json']) {
      const { code, errors } = await mcs(words, { environment, node });
      expect([words, code, errors.replaceAll(/^The token of.*\n/gm, '')]).toEqual([words, 0, '']);
    }
    const authorities = new Set(proxy.tunnels.map((tunnel) => tunnel.authority));
    expect([...authorities]).toEqual([new URL(httpsUrl).host]);

    const create = 'console.log(typeof (await client.createMcpToken({ external_user_id: "u" })).token);';
    const isOld = Number(version) < 22;
    const undici = JSON.stringify(join(ROOT, 'node_modules/undici/index.js'));
    const [making, used] = isOld
      ? [
          `const { EnvHttpProxyAgent, fetch } = (await import(${undici})).default;
           const dispatcher = new EnvHttpProxyAgent();
           const client = new MerchantConnectivity({
             ...options, fetch: (url, init) => fetch(url, { ...init, dispatcher }) });`,
          {},
        ]
      : ['const client = new MerchantConnectivity(options);', { NODE_USE_ENV_PROXY: '1' }];
    const before = proxy.tunnels.length;
    const sent = await runSdk(making + create, httpsUrl, { environment: { ...environment, ...used }, node });
    expect([sent.code, sent.output, proxy.tunnels.length]).toEqual([0, 'string\n', before + 1]);
    // Without it, the message says what to do.
    const unused = await runSdk(
      `const client = new MerchantConnectivity({ ...options, maxRetries: 0 });
       await client.createMcpToken({ external_user_id: 'u' }).catch(({ message }) => console.log(message));`,
      'https://mcs.invalid',
      { environment, node },
    );
    expect(unused.output).toMatch(/HTTPS_PROXY is set, but fetch does not use it: set NODE_USE_ENV_PROXY=1/);
    await proxy.close();
  },
);

it.concurrent('mcs login polls through failures of proxies and networks, and names itself', async () => {
  const failures: ProxyFailure[] = [502, 'reset', 504];
  const proxy = await startFlakyProxy(service.baseUrl, (_number, path) =>
    path === '/oauth/token' || path === '/me' ? failures.shift() : undefined,
  );
  const home = newHome();
  const login = start('login --json', { environment: { MCS_BASE_URL: proxy.url }, home });
  const [, code = ''] = await login.waitForErrors(/enter the code ([A-Z]{4}-[A-Z]{4})/);
  rememberSecret(code);
  await login.waitForErrors(/with the status 502 does not come from the service.*Trying again…/);
  const owner = await service.login('owner');
  await decide(service, owner, code);
  const { code: exitCode, output } = await login.ended;
  expect([exitCode, JSON.parse(output)]).toEqual([0, expect.objectContaining({ role: 'owner' })]);
  const { profiles } = JSON.parse(readFileSync(join(home, 'mcs/config.json'), 'utf8'));
  rememberSecret(profiles.default.access_token);
  const [{ agent } = { agent: '' }] = await service.database.query<{ agent: string }>(
    'SELECT user_agent AS agent FROM device_authorization WHERE user_id = $1',
    [owner.userId],
  );
  expect(agent).toMatch(/^mcs\/\d+\.\d+\.\d+$/);
  proxy.close();
});

it.concurrent('mcs login checks that it can store the profile before it requests anything', async () => {
  const proxy = await startFlakyProxy(service.baseUrl, () => undefined);
  const environment = { MCS_BASE_URL: proxy.url };
  const file = newHome();
  writeFileSync(file, '');
  const circle = newHome();
  mkdirSync(join(circle, 'mcs'), { recursive: true });
  symlinkSync('config.json', join(circle, 'mcs/config.json'));
  const full = newHome();
  mkdirSync(full);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'mcs', full]);
  spawnSync('dd', ['if=/dev/zero', `of=${full}/filler`, 'bs=4k']);
  try {
    const places: [string, string][] = [
      [file, 'a part of the path is not a folder'],
      [circle, 'the path is a circle of links'],
      [full, 'the disk is full'],
    ];
    for (const [home, reason] of places) {
      for (const words of ['login', 'login --credentials -']) {
        const { clientId: client_id, secret } = service.development;
        const input = JSON.stringify({ base_url: proxy.url, client_id, secret });
        const { code, output, errors } = await mcs(words, { environment, home, input });
        expect([words, code, output, errors.split('\n').length, errors]).toEqual([
          words,
          1,
          '',
          3,
          expect.stringMatching(new RegExp(`cannot be (?:read|written): ${reason}.\n`)),
        ]);
      }
    }
  } finally {
    execFileSync('umount', [full]);
  }
  expect(proxy.requests).toEqual([]);
  proxy.close();
});

it.concurrent('mcs login keeps a configuration file that is a link', async () => {
  const home = newHome();
  mkdirSync(join(home, 'mcs'), { recursive: true });
  mkdirSync(join(home, 'dotfiles'));
  const link = join(home, 'mcs/config.json');
  symlinkSync('../dotfiles/mcs.json', link);
  const { clientId: client_id, secret } = service.development;
  const input = JSON.stringify({ base_url: service.baseUrl, client_id, secret });
  for (const profile of ['default', 'second']) {
    expect(await mcs(`login --credentials - --profile ${profile}`, { home, input })).toMatchObject({
      code: 0,
    });
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
  }
  const { profiles } = JSON.parse(readFileSync(join(home, 'dotfiles/mcs.json'), 'utf8'));
  expect(Object.keys(profiles)).toEqual(['default', 'second']);
  expect(lstatSync(join(home, 'dotfiles/mcs.json')).mode & 0o777).toBe(0o600);
});

it.concurrent('mcs tails the log also if its first request fails', async () => {
  const token = await accessToken(service, await service.login());
  rememberSecret(token);
  // One request and its two repetitions.
  const failures: ProxyFailure[] = [502, 504, 'reset', 502];
  const proxy = await startFlakyProxy(service.baseUrl, () => failures.shift());
  const environment = { MCS_BASE_URL: proxy.url, MCS_ACCESS_TOKEN: token };
  await service.request('/mcp/tokens/create', {
    body: { external_user_id: 'tailed' },
    as: service.development,
  });
  const tail = start('logs tail --user tailed', { environment });
  await tail.waitForErrors(/Trying again…[^]*Connected again/);
  await tail.waitForOutput(/tailed/);
  tail.signal('SIGTERM');
  await tail.ended;
  proxy.close();
});

it.concurrent('mcs sends nothing to the address that a redirect names', async () => {
  const received: string[] = [];
  const other = createServer((request, response) => {
    received.push(request.url ?? '');
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const redirecting = createServer((request, response) => {
    response.writeHead(307, { location: elsewhere + request.url }).end();
  }).listen(0, '127.0.0.1');
  await once(redirecting, 'listening');
  const url = `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}`;
  const environment = { MCS_BASE_URL: url, MCS_ACCESS_TOKEN: 'token' };
  const withConnector = { MCS_BASE_URL: service.baseUrl, MCS_CONNECTOR_URL: url };
  const commands: [string, Record<string, string>][] = [
    ['tokens create --user u', environment],
    ['login', environment],
    ['login --credentials -', environment],
    ['whoami', environment],
    ['logs tail', environment],
    ['listen', environment],
    ['agent --user u --tools', withConnector],
  ];
  const { clientId: client_id, secret } = service.development;
  const input = JSON.stringify({ base_url: url, client_id, secret });
  for (const [words, variables] of commands) {
    const { code, errors } = await mcs(words, { environment: variables, input });
    expect([words, code, errors]).toEqual([
      words,
      1,
      expect.stringMatching(new RegExp(`^Error: ${url} redirects the request to ${elsewhere}/`)),
    ]);
  }
  expect(received).toEqual([]);
  other.close();
  redirecting.close();
});

it.concurrent('mcs says which authority to trust, and which proxy did not respond', async () => {
  const { port } = new URL(httpsUrl);
  const untrusted = await mcs('tokens create --user u', {
    environment: { MCS_BASE_URL: `https://127.0.0.1:${port}` },
  });
  expect(untrusted.code).toBe(1);
  expect(untrusted.errors).toMatch(
    /unable to .*certificate.*\. If the authority of your company.*NODE_EXTRA_CA_CERTS/,
  );
  const trusted = await mcs('tokens create --user u', {
    environment: { MCS_BASE_URL: `https://127.0.0.1:${port}`, NODE_EXTRA_CA_CERTS: authority },
  });
  expect(trusted.code).toBe(0);
  const environment = { MCS_BASE_URL: httpsUrl, NODE_EXTRA_CA_CERTS: authority };
  const refusing = await startConnectProxy(() => 407);
  const withPassword = refusing.url.replace('//', '//user:password@');
  const refused = await mcs('tokens create --user u', {
    environment: { ...environment, HTTPS_PROXY: withPassword },
  });
  expect(refused.errors).toMatch(
    /the proxy responded with the status 407 \(through the proxy 127\.0\.0\.1:\d+/,
  );
  expect(refused.errors).not.toContain('password');
  await refusing.close();
  const lost = await mcs('tokens create --user u', {
    environment: { ...environment, HTTPS_PROXY: '127.0.0.1:2' },
  });
  expect(lost.errors).toMatch(
    /ECONNREFUSED 127\.0\.0\.1:2 \(through the proxy 127\.0\.0\.1:2 of HTTPS_PROXY\)/,
  );
  const wrong = await mcs('tokens create --user u', {
    environment: { ...environment, HTTPS_PROXY: 'socks5://127.0.0.1:2' },
  });
  expect(wrong).toMatchObject({ code: 2, errors: expect.stringMatching(/^Error: HTTPS_PROXY must be/) });
});

it.concurrent('mcs says that its output is lost on a full disk', async () => {
  const shell = ['-c', `"${clients.mcs}" tokens create --user u > /dev/full`];
  const env = {
    ...process.env,
    ...credentials(),
    MCS_BASE_URL: service.baseUrl,
    XDG_CONFIG_HOME: newHome(),
  };
  const ended = await new Promise<[unknown, string]>((resolve) => {
    execFile('sh', shell, { env }, (error, _stdout, stderr) => resolve([error?.code, stderr]));
  });
  expect(ended).toEqual([1, expect.stringContaining('The output cannot be written: the disk is full.')]);
});
