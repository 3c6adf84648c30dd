import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiKeysService } from '../../src/modules/api-keys/index.js';
import { mcpToken, sendRpc, toolCall } from '../support/agents/agents.js';
import { CommandSession } from '../support/programs/commands.js';
import { accessToken, decide } from '../support/logins/device-flow.js';
import { eventually } from '../support/eventually.js';
import { installClients, type InstalledClients } from '../support/programs/installed-clients.js';
import { Program, type Ended } from '../support/programs/program.js';
import { RECEIVER_CERTIFICATES, RECEIVER_KEY } from '../support/webhooks/receiver-certificates.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { startTestApp, type Login, type TestApp } from '../support/test-app.js';
import { startReceiver, type WebhookReceiver } from '../support/webhooks/webhook-receiver.js';

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
const CODE = /enter the code ([A-Z]{4}-[A-Z]{4})/;
const NO_CREDENTIALS = 'This command needs the credentials of an API client.';

let clients: InstalledClients;
let session: CommandSession;
let service: TestApp;
let receiver: WebhookReceiver;
let owner: Login;
/** The folder of the configuration. */
let home: string;
let homes = 0;

beforeAll(async () => {
  receiver = await startReceiver();
  [clients, service] = await Promise.all([
    installClients(),
    startTestApp({ WEBHOOK_TARGETS: 'any' }, { backgroundWork: true }),
  ]);
  session = new CommandSession(clients.script);
  owner = await service.login();
}, 60_000);
afterAll(async () => {
  await Program.endAll();
  await service.close();
  await receiver.close();
});
beforeEach(() => {
  homes += 1;
  home = join(clients.folder, `home-${homes}`);
});

const settingsFile = (): string => join(home, 'mcs', 'config.json');
const basicCredentials = (of = service.development): Record<string, string> => ({
  MCS_CLIENT_ID: of.clientId,
  MCS_CLIENT_SECRET: of.secret,
});

interface Options {
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: string;
}

const environmentWith = (more: Options['environment']): Record<string, string> => ({
  XDG_CONFIG_HOME: home,
  MCS_BASE_URL: service.baseUrl,
  ...more,
});

const start = (words: readonly string[], { environment, input = '' }: Options = {}): Program =>
  new Program(clients.mcs, { arguments: words, environment: environmentWith(environment), input });

/** Runs a command until it ends: without input, in a process that it shares with others. */
function mcs(words: string, options: Options = {}): Promise<Ended> {
  const { environment, input } = options;
  if (input !== undefined) return start(words.split(' '), options).ended;
  return session.run(words.split(' '), environmentWith(environment));
}

/** Runs a command that must succeed. @returns its JSON */
async function json<Result = Record<string, unknown>>(words: string, options?: Options): Promise<Result> {
  const { code, output, errors } = await mcs(`${words} --json`, options);
  if (code !== 0) throw new Error(`mcs ${words} ended with ${code}: ${errors}`);
  return JSON.parse(output) as Result;
}

async function approve(program: Program, decision: 'approve' | 'deny' = 'approve'): Promise<void> {
  const [, code = ''] = await program.waitForErrors(CODE);
  rememberSecret(code);
  await decide(service, owner, code, decision);
}

/** Logs in as the owner, as a user does. The first poll for the token comes after 5 s. */
async function logIn(environment: Record<string, string>): Promise<Ended> {
  const login = start(['login', '--json'], { environment });
  await approve(login);
  return login.ended;
}

/** Stores a login without the wait. */
async function storeLogin(): Promise<void> {
  const expires_at = new Date(Date.now() + 900_000).toISOString();
  const access_token = await accessToken(service, owner);
  mkdirSync(join(home, 'mcs'), { recursive: true });
  const { clientId: client_id } = service.development;
  const profile = { base_url: service.baseUrl, client_id, access_token, expires_at };
  writeFileSync(settingsFile(), JSON.stringify({ profiles: { default: profile } }));
}

const stored = (): Record<string, Record<string, string>> =>
  JSON.parse(readFileSync(settingsFile(), 'utf8')).profiles;

function changeProfile(changes: Record<string, string>): void {
  const profiles = stored();
  writeFileSync(
    settingsFile(),
    JSON.stringify({ profiles: { default: { ...profiles['default'], ...changes } } }),
  );
}

describe('mcs login', () => {
  let declined: Promise<Ended>;

  // Meanwhile, other tests run: the result of a decision takes 5 s.
  beforeAll(() => {
    home = join(clients.folder, 'home-declined');
    const login = start(['login'], { environment: { MCS_CLIENT_ID: service.development.clientId } });
    declined = approve(login, 'deny').then(() => login.ended);
  });

  it('stores the token of a user who approves, readable by its owner only', async () => {
    const { code, output, errors } = await logIn(basicCredentials());
    expect([code, errors]).toEqual([0, expect.stringMatching(CODE)]);
    // A secret of the environment is not stored.
    expect(stored()['default']).not.toHaveProperty('client_secret');
    expect(JSON.parse(output)).toMatchObject({
      email: owner.email,
      role: 'owner',
      token: { environment: 'development' },
    });
    expect(statSync(settingsFile()).mode & 0o777).toBe(0o600);
    expect(statSync(join(home, 'mcs')).mode & 0o777).toBe(0o700);
    const { access_token: token } = await json<{ access_token: string }>('access-token');
    rememberSecret(token);
    expect((await service.request('/me', { token })).status).toBe(200);
    expect(await json('whoami')).toMatchObject({ email: owner.email, profile: 'default' });
    const { output: text } = await mcs('whoami');
    expect(text).toMatch(/^environment {2}development$/m);
    expect(text).toMatch(/\(14 minutes\)$/m);

    expect((await mcs('logout')).code).toBe(0);
    expect(stored()).toEqual({});
    expect((await service.request('/me', { token })).status).toBe(401);
  });

  it('ends if the token cannot be revoked, and revokes it with the client that it belongs to', async () => {
    await storeLogin();
    changeProfile({ base_url: 'http://127.0.0.1:1' });
    const offline = await mcs('logout');
    expect(offline).toMatchObject({ code: 0, errors: expect.stringContaining('could not be revoked') });
    expect(stored()).toEqual({});

    await storeLogin();
    const token = String(stored()['default']?.['access_token']);
    const other = { MCS_CLIENT_ID: service.production.clientId };
    expect(await mcs('logout', { environment: other })).toMatchObject({ code: 0, errors: '' });
    expect((await service.request('/me', { token })).status).toBe(401);

    await storeLogin();
    changeProfile({ expires_at: new Date(0).toISOString(), base_url: 'http://127.0.0.1:1' });
    expect(await mcs('logout')).toMatchObject({ code: 0, errors: '' });
    expect(stored()).toEqual({});
  });

  it('is not necessary with the token of a variable, which says its environment and its end', async () => {
    const environment = { MCS_ACCESS_TOKEN: await accessToken(service, owner, service.production) };
    expect(await json('logs list', { environment })).toEqual([]);
    const { output } = await mcs('whoami', { environment });
    expect(output).toMatch(/^environment {2}production$/m);
    expect(output).toMatch(/\(14 minutes\)$/m);
  });

  it('fails if the user declines', async () => {
    expect(await declined).toMatchObject({ code: 1, errors: expect.stringContaining('Error: ') });
  });

  it('keeps profiles apart', async () => {
    const credentials = (of = service.development): string =>
      JSON.stringify({ client_id: of.clientId, secret: of.secret, base_url: service.baseUrl });
    await mcs('login --credentials -', { input: credentials() });
    await mcs('login --credentials - --profile live --environment production', {
      input: credentials(service.production),
    });
    expect(Object.entries(stored()).map(([name, { client_id: id }]) => [name, id])).toEqual([
      ['default', service.development.clientId],
      ['live', service.production.clientId],
    ]);
    const token = (options: string) =>
      json<{ token: string }>(`tokens create --user u${options}`, { environment: { MCS_BASE_URL: '' } });
    expect((await token('')).token).toMatch(/^mcp_dev_/);
    expect((await token(' --profile live')).token).toMatch(/^mcp_live_/);
    expect(
      (await json<{ token: string }>('tokens create --user u', { environment: { MCS_PROFILE: 'live' } }))
        .token,
    ).toMatch(/^mcp_live_/);
  });

  it('sends stored secrets only to the service that they were stored for', async () => {
    const received: string[] = [];
    const other = createHttpServer(({ headers }, response) => {
      received.push(headers.authorization ?? '');
      response.writeHead(401).end('{}');
    })
      .listen(0, '127.0.0.1')
      .unref();
    await once(other, 'listening');
    const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    await storeLogin();
    changeProfile({ client_secret: service.development.secret });
    for (const [words, name, remedy] of [
      ['tokens create --user u', 'MCS_BASE_URL', 'MCS_CLIENT_ID, and MCS_API_KEY or MCS_CLIENT_SECRET'],
      ['logs list', 'MCS_BASE_URL', 'MCS_ACCESS_TOKEN'],
      ['logs list', 'MCS_DASHBOARD_URL', 'MCS_ACCESS_TOKEN'],
      ['logs tail', 'MCS_BASE_URL', 'MCS_ACCESS_TOKEN'],
      ['access-token', 'MCS_BASE_URL', 'MCS_ACCESS_TOKEN'],
    ] as const)
      expect([words, await mcs(words, { environment: { [name]: elsewhere } })]).toEqual([
        words,
        {
          code: 4,
          output: '',
          errors:
            `Error: The credentials of the profile default are for ${service.baseUrl}. They are not sent to ${elsewhere}.\n` +
            `Log in there with another profile: mcs --profile <name> login. Or set ${remedy}.\n`,
        },
      ]);
    expect(await mcs(`--base-url ${elsewhere} tokens create --user u`)).toMatchObject({ code: 4 });
    // A profile without an address belongs to this machine.
    const { base_url: _address, ...profile } = stored()['default'] ?? {};
    writeFileSync(settingsFile(), JSON.stringify({ profiles: { default: profile } }));
    expect(await mcs('logs list', { environment: { MCS_BASE_URL: elsewhere } })).toMatchObject({ code: 4 });
    expect(received).toEqual([]);
    // Variables can name any address.
    await mcs('tokens create --user u', { environment: { ...basicCredentials(), MCS_BASE_URL: elsewhere } });
    expect(received).toEqual([expect.stringMatching(/^Basic /)]);
    other.close();
  });

  it('does not keep a stored secret or token for another service', async () => {
    const { clientId: client_id, secret } = service.development;
    const before = 'https://before.example.com';
    await storeLogin();
    changeProfile({ base_url: before, client_secret: secret });
    const { errors } = await logIn({});
    expect(errors).toContain(
      `The profile no longer has the secret of the API client ${client_id} of ${before}.\n`,
    );
    expect(stored()['default']).toMatchObject({ base_url: service.baseUrl, client_id });
    expect(stored()['default']).not.toHaveProperty('client_secret');

    const input = JSON.stringify({ base_url: service.baseUrl, client_id, secret });
    await mcs('login --credentials -', { input });
    expect(Object.keys(stored()['default'] ?? {})).toEqual(
      expect.arrayContaining(['access_token', 'client_secret']),
    );
    changeProfile({ base_url: before });
    await mcs('login --credentials -', { input });
    expect(stored()['default']).toMatchObject({ base_url: service.baseUrl, client_secret: secret });
    expect(stored()['default']).not.toHaveProperty('access_token');
  });

  it('stores the credentials of the file that the service writes, if they are right', async () => {
    const file = join(clients.folder, 'credentials.json');
    const { clientId: client_id, secret } = service.development;
    const credentials = { base_url: service.baseUrl, development: { client_id, secret }, production: {} };
    writeFileSync(file, JSON.stringify(credentials));
    expect(await json(`login --credentials ${file}`)).toEqual({
      profile: 'default',
      base_url: service.baseUrl,
      client_id,
      environment: 'development',
    });
    writeFileSync(file, JSON.stringify({ ...credentials, development: { client_id, secret: 'wrong' } }));
    expect(await mcs(`login --credentials ${file}`)).toMatchObject({
      code: 4,
      errors: expect.stringMatching(
        /^Error: [^]*\nCheck the client_id and the secret of the file\. .*MCS_API_KEY/,
      ),
    });
    expect(await mcs(`login --credentials ${file} --environment production`)).toMatchObject({ code: 2 });
    expect(await mcs('login --credentials /nowhere')).toMatchObject({ code: 2 });
    expect(stored()['default']).toMatchObject({ client_secret: secret });
  });

  it('reads files in the encodings of Windows', async () => {
    const { clientId: client_id, secret } = service.development;
    const text = `\ufeff${JSON.stringify({ base_url: service.baseUrl, client_id, secret })}`;
    const file = join(clients.folder, 'windows.json');
    for (const encoding of ['utf8', 'utf16le'] as const) {
      writeFileSync(file, text, encoding);
      expect(await mcs(`login --credentials ${file}`)).toMatchObject({ code: 0 });
      writeFileSync(settingsFile(), `\ufeff${readFileSync(settingsFile(), 'utf8')}`, encoding);
      expect(await mcs('tokens create --user u')).toMatchObject({ code: 0 });
    }
    writeFileSync(settingsFile(), '{"profiles":null}');
    expect(await mcs('access-token')).toMatchObject({ code: 4 });
  });
});

describe('mcs', () => {
  it('exits with 4 without credentials, and with 2 for a wrong option', async () => {
    expect(await mcs('tokens create --user u')).toMatchObject({
      code: 4,
      output: '',
      errors: `Error: ${NO_CREDENTIALS}\nRun mcs login --credentials <file>, or set MCS_CLIENT_ID, and MCS_API_KEY or MCS_CLIENT_SECRET.\n`,
    });
    for (const words of ['whoami', 'logs list', 'logs tail', 'endpoints list', 'access-token']) {
      expect([words, (await mcs(words)).code]).toEqual([words, 4]);
    }
    const wrong = [
      'nonsense',
      'tokens create',
      'listen --forward-to localhost:4000',
      'trigger CARD_UPDATED --data 1',
    ];
    const numbers = [
      'tokens create --user u --expires-in soon',
      'links create --user u --merchant Netflix',
      'links create --user u --merchant 16 --expires-in 1h',
      'endpoints rotate-key 0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1 --overlap 1d',
    ];
    for (const words of [...wrong, ...numbers, '--base-url nowhere listen']) {
      expect([words, (await mcs(words, { environment: basicCredentials() })).code]).toEqual([words, 2]);
    }
    const usageErrors: Readonly<Record<string, readonly [message: string, help: string]>> = {
      'nonsense --json': ["Unknown command 'nonsense'", 'mcs --help'],
      'tokens create --json': ["Required option '--user <id>' not specified", 'mcs tokens create --help'],
      '--json tokens creat --user u': [
        "Unknown command 'creat'. (Did you mean create?)",
        'mcs tokens --help',
      ],
      'endpoints --json': ['Give a command.', 'mcs endpoints --help'],
    };
    for (const [words, [error_message, help]] of Object.entries(usageErrors)) {
      const { code, output, errors } = await mcs(words);
      expect([words, code, output, JSON.parse(errors)]).toEqual([
        words,
        2,
        '',
        { error_message, hint: `Run ${help} for help.` },
      ]);
    }
    expect(await mcs('endpoints')).toMatchObject({
      code: 2,
      errors: expect.stringMatching(/^Usage: mcs end/),
    });
    expect(await mcs('--version')).toMatchObject({ code: 0, output: '0.4.0\n' });
  });

  it('shows the message of the service, the request id, and what to do', async () => {
    const environment = { ...basicCredentials(), MCS_CLIENT_SECRET: 'wrong' };
    expect(await mcs('tokens create --user u', { environment })).toMatchObject({
      code: 4,
      errors: expect.stringMatching(
        /^Error: Invalid client_id or secret provided\.\n {2}status: 401\n {2}error_code: INVALID_API_KEYS\n {2}request_id: \S+\n {2}help: http:\S+#invalid_api_keys\nCheck MCS_CLIENT_ID/,
      ),
    });
    const { code, errors } = await mcs('tokens create --user u --json --expires-in 5', {
      environment: basicCredentials(),
    });
    expect(code).toBe(1);
    expect(JSON.parse(errors)).toMatchObject({
      error_message: 'The expires in field must be at least 60.',
      error_code: 'INVALID_FIELD',
      status: 400,
      request_id: expect.stringMatching(UUID),
    });
    const unreachable = await mcs('tokens create --user u', {
      environment: { ...basicCredentials(), MCS_BASE_URL: 'http://127.0.0.1:2' },
    });
    expect(unreachable).toMatchObject({
      code: 1,
      errors:
        'Error: The request to http://127.0.0.1:2 failed: connect ECONNREFUSED 127.0.0.1:2.\n' +
        'Check that the service runs at this address. --base-url, MCS_BASE_URL and MCS_DASHBOARD_URL change it.\n',
    });
    expect(
      await mcs('login', { environment: { MCS_CLIENT_ID: 'x', MCS_BASE_URL: 'http://localhost:2' } }),
    ).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/^Error: The request to http:\/\/localhost:2 failed: .*ECONNREFUSED/),
    });
  });

  it('names the variable whose credential was refused, because a login would not help', async () => {
    for (const variable of ['MCS_API_KEY', 'MCS_ACCESS_TOKEN'])
      expect(await mcs('logs list', { environment: { [variable]: 'refused' } })).toMatchObject({
        code: 4,
        errors: expect.stringMatching(
          new RegExp(`\nCheck ${variable}, which is used in place of a login\\.\n$`),
        ),
      });
  });

  it('suggests no login if a credential in place of it lacks a scope', async () => {
    const { clientId } = service.development;
    const key = { name: 'Merchants', scopes: ['merchants:read'] };
    const { token } = await service.app.get(ApiKeysService).create(clientId, key);
    rememberSecret(token);
    const environment = { MCS_CLIENT_ID: clientId, MCS_API_KEY: token };
    for (const words of ['tokens create --user u', 'logs list'])
      expect(await mcs(words, { environment })).toMatchObject({
        code: 1,
        errors: expect.stringMatching(
          /lacks the scope [^]*\nCheck the scopes of MCS_API_KEY, which is used in place of a login\.\n$/,
        ),
      });
  });

  it('sends secrets over http only to this machine', async () => {
    const elsewhere = service.baseUrl.replace('127.0.0.1', '0.0.0.0');
    const message = `Error: ${elsewhere} would send secrets without encryption. Use https; http is only for this machine.\n`;
    const environment = basicCredentials();
    for (const name of ['MCS_BASE_URL', 'MCS_DASHBOARD_URL', 'MCS_CONNECTOR_URL']) {
      const words = { MCS_BASE_URL: 'tokens create', MCS_DASHBOARD_URL: 'login', MCS_CONNECTOR_URL: 'agent' }[
        name
      ];
      expect([
        name,
        await mcs(words === 'login' ? words : `${words} --user u`, {
          environment: { ...environment, [name]: elsewhere },
        }),
      ]).toEqual([name, { code: 2, output: '', errors: message }]);
    }
    const { clientId: client_id, secret } = service.development;
    for (const urls of [
      { base_url: elsewhere },
      { dashboard_url: elsewhere },
      { connector_url: elsewhere },
    ]) {
      const input = JSON.stringify({ base_url: service.baseUrl, client_id, secret, ...urls });
      expect(await mcs('login --credentials -', { input })).toMatchObject({ code: 2, errors: message });
    }
  });

  it('opens only pages of the dashboard', async () => {
    const programs = join(clients.folder, `programs-${homes}`);
    const opened = join(programs, 'opened');
    mkdirSync(programs);
    const opener = '#!/bin/sh\nprintf %s "$1" >> "$(dirname "$0")/opened"\n';
    writeFileSync(join(programs, 'xdg-open'), opener, { mode: 0o755 });
    const authorization = await startAuthorizationServer();
    const loginTo = async (baseUrl: string): Promise<Program> => {
      const login = start(['login', '--open'], {
        environment: {
          ...basicCredentials(),
          MCS_BASE_URL: baseUrl,
          PATH: `${programs}:${process.env.PATH}`,
        },
      });
      await login.waitForErrors(CODE);
      return login;
    };
    for (const address of [
      'file:///etc/passwd',
      'https://attacker.example/device',
      '--help',
      'http://127.0.0.1:1/',
    ]) {
      authorization.verificationUri = address;
      const login = await loginTo(authorization.url);
      await login.waitForErrors(
        /The address is not opened, because it is not on http:\/\/127\.0\.0\.1:\d+\.\n/,
      );
      login.signal('SIGTERM');
    }
    const login = await loginTo(service.baseUrl);
    await eventually('the page is opened', () => existsSync(opened));
    login.signal('SIGTERM');
    expect(readFileSync(opened, 'utf8')).toBe(`${service.baseUrl}/device`);
    authorization.close();
  });

  it('prints scripts with which shells complete commands and options', async () => {
    const { output: script } = await mcs('completion bash');
    const complete = (...words: string[]): string[] => {
      const setting = `COMP_WORDS=(mcs ${words.map((word) => `'${word}'`).join(' ')}) COMP_CWORD=${words.length}`;
      const { stdout, stderr } = spawnSync(
        'bash',
        ['-c', `${script}\n${setting}\n_mcs\necho "\${COMPREPLY[@]}"`],
        {
          encoding: 'utf8',
        },
      );
      expect(stderr).toBe('');
      return stdout.trim().split(' ');
    };
    expect(complete('end')).toEqual(['endpoints']);
    expect(complete('--json', 'endpoints', 're')).toEqual(['redeliver', 'recover']);
    expect(complete('endpoints', 'recover', 'some-id', '--s')).toEqual(['--since']);
    expect(complete('logs', 'list', '--pro')).toEqual(['--profile']);
    const { output: zsh } = await mcs('completion zsh');
    expect(zsh).toMatch(/\ncompdef _mcs mcs\n$/);
    const { output: fish } = await mcs('completion fish');
    expect(fish).toContain("case ' endpoints recover'; printf '%s\\n' --since");
    expect(fish).toMatch(/\ncomplete -c mcs -a '\(__mcs_candidates\)'\n$/);
    const { output: powerShell } = await mcs('completion powershell');
    expect(powerShell).toMatch(/^Register-ArgumentCompleter -Native -CommandName mcs /);
    expect(powerShell).toContain("' endpoints recover' = '--since");
    expect(await mcs('completion tcsh')).toMatchObject({ code: 2 });
  });

  it('prints a token alone, so that a shell can read it', async () => {
    const { output, errors } = await mcs('tokens create --user u --phone +12125550123', {
      environment: basicCredentials(),
    });
    expect(output).toMatch(/^mcp_dev_\w{49}\n$/);
    rememberSecret(output.trim());
    expect(errors).toMatch(/^The token of u expires at 20\S+Z\. It is shown only once\.\n$/);
  });

  it('manages webhook endpoints', async () => {
    await storeLogin();
    const url = `${receiver.url}/endpoint`;
    const created = await json(`endpoints create --url ${url} --description CLI`);
    expect(created).toMatchObject({ url, description: 'CLI', environment: 'development' });
    const id = String(created['id']);
    expect(await json(`endpoints update ${id} --description changed`)).toMatchObject({
      description: 'changed',
    });
    const changes = '--events CARD_UPDATED,CARD_FAILED --status paused';
    expect(await json(`endpoints update ${id} ${changes}`)).toMatchObject({
      events: ['CARD_FAILED', 'CARD_UPDATED'],
      status: 'paused',
    });
    expect(await json(`endpoints update ${id} --status enabled`)).toMatchObject({ status: 'enabled' });
    expect(await mcs(`endpoints update ${id}`)).toMatchObject({ code: 2 });
    expect((await mcs('endpoints list')).output.split('\n')).toEqual([
      expect.stringMatching(/^id +url +environment +status +signing +events +failures +description/),
      expect.stringContaining(`${id}  ${url}`),
      '',
    ]);
    expect(await mcs(`endpoints test ${id}`)).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^MERCHANT_STATUS_UPDATE {2}received {2}200 {2}\d+ ms\n$/),
    });
    receiver.response = 500;
    expect(await mcs(`endpoints test ${id} --event CARD_UPDATED`)).toMatchObject({ code: 1 });
    receiver.response = 200;
    const attempts = await json<Record<string, string>[]>(`logs list --endpoint ${id}`);
    expect(attempts.map(({ event }) => event)).toEqual(['CARD_UPDATED', 'MERCHANT_STATUS_UPDATE']);
    const [failed, received] = attempts;
    expect(failed).toMatchObject({ endpoint_id: id, reason: 'NON_200', status_code: 500 });
    expect(await json(`logs list --endpoint ${id} --outcome failure`)).toEqual([failed]);
    expect(await json(`logs list --event-id ${received?.['event_id']}`)).toEqual([received]);
    expect(await json(`endpoints get ${id}`)).toMatchObject({ id, health: { consecutive_failures: 1 } });
    expect((await mcs(`endpoints get ${id}`)).output).toMatch(
      /^id +[\w-]+\n[^]*\nhealth +\{\n {2}"last_success_at"/,
    );
    expect(await json(`endpoints redeliver ${id} --event-id ${received?.['event_id']}`)).toEqual({
      queued: 1,
    });
    expect(await json(`endpoints recover ${id} --since 1h`)).toMatchObject({ status: expect.any(String) });
    expect((await mcs(`endpoints recover ${id}`)).output).toMatch(/^status +(running|finished)\nsince +20/);
    expect((await mcs(`endpoints delete ${id}`)).code).toBe(0);
    expect(await json('endpoints list')).toEqual([]);
  });
});

describe('mcs, with the credentials of an API client,', () => {
  const run = <Result>(words: string) => json<Result>(words, { environment: basicCredentials() });
  const text = async (words: string, environment = basicCredentials()): Promise<string> => {
    const { code, output, errors } = await mcs(words, { environment });
    expect([code, errors]).toEqual([0, '']);
    return output;
  };

  it('lists merchants and the accounts of a user, and simulates them', async () => {
    const [netflix] = await run<{ id: number; name: string }[]>('merchants --name netflix');
    expect(netflix).toMatchObject({ name: 'Netflix' });
    expect(await text('merchants list --name netflix')).toMatch(/^id +name +hidden\n\d+ +Netflix +false\n$/);
    const account = `--user accounts-1 --merchant ${netflix?.id}`;
    expect(await run(`sandbox link ${account}`)).toMatchObject({ event_id: expect.stringMatching(UUID) });
    expect(await text('accounts --user accounts-1')).toMatch(
      /^id +merchant +state +since +session\n\d+ +Netflix +connected +20\S+ \S+Z +[\w-]+\n$/,
    );
    expect(await text(`sandbox disconnect ${account}`)).toMatch(/^event_id {2}[\w-]+\n$/);
    expect(await run('accounts list --user accounts-1')).toMatchObject([{ state: 'disconnected' }]);
    expect(await run('accounts list --user accounts-1 --limit 0')).toEqual([]);
    await run(`sandbox link ${account}`);
    expect(await run(`accounts unlink ${account}`)).toMatchObject({ state: 'disconnected' });
  });

  it('searches detected accounts, and simulates their detection', async () => {
    for (const merchant of ['16', 'Netflix']) {
      const user = `--user detected-${merchant}`;
      expect(await run(`sandbox detect ${merchant} ${user}`)).toMatchObject({
        event_id: expect.stringMatching(UUID),
      });
      expect(await run(`detected search Netflix ${user}`)).toMatchObject([{ detected: true }]);
    }
    expect(await run('detected search Netflix Hulu --user nobody')).toEqual([
      { name: 'Netflix', detected: false, detected_at: null },
      { name: 'Hulu', detected: false, detected_at: null },
    ]);
    expect(await text('detected search Netflix --user nobody')).toMatch(/\nNetflix {2}false +-\n$/);
  });

  it('creates, opens and extends sessions', async () => {
    const { output } = await mcs('sessions create --type link --user s --metadata {"order":"7"}', {
      environment: basicCredentials(),
    });
    const id = output.trim();
    expect(id).toMatch(UUID);
    expect(await text(`sessions open ${id}`)).toMatch(/^session +[\w-]+\nexpires_at {2}20/);
    expect(await run(`sessions extend ${id}`)).toMatchObject({ session: id });
    expect(await mcs('sessions create --type other --user s')).toMatchObject({ code: 2 });
  });

  it('sends requests of any operation, reads all pages, and selects a part', async () => {
    for (const number of [1, 2, 3])
      await run(`sandbox link --user api-user --merchant ${[16, 19, 26][number - 1]}`);
    const path = '/merchant-accounts?external_user_id=api-user';
    const page = await run<{ data: object[]; next_cursor: string }>(`api GET ${path} --query limit=2`);
    expect([page.data.length, page.next_cursor]).toEqual([2, expect.any(String)]);
    expect(await run(`api get ${path} --query limit=1 --all`)).toHaveLength(3);
    expect(await text(`api GET ${path} --all --select length(@)`)).toBe('3\n');
    expect(await text(`api GET ${path} --select data[0].state`)).toBe('connected\n');
    expect(
      await text('api POST /session/create --data {"type":"link","external_user_id":"u"} --select session'),
    ).toMatch(UUID);
    expect((await run<Record<string, string>[]>('api')).map(({ path: each }) => each)).toContain(
      '/webhook-events',
    );
    const environment = basicCredentials();
    for (const [words, message] of [
      ['api GET /nonsense', 'No operation has the path /nonsense. Run mcs api for a list.'],
      ['api DELETE /merchants', '/merchants has no operation DELETE, but GET.'],
      ['api GET', 'Give a method and a path'],
      ['api GET /merchants --query limit', '--query must be name=value, not limit.'],
      ['api POST /session/create --data {', '--data must be JSON'],
      ['api GET /merchants --select [', '--select: '],
      ['api POST /session/create --all', 'POST /session/create has no pages.'],
      ['api GET /development/webhooks/stream', 'mcs listen shows this stream.'],
    ] as const)
      expect([words, await mcs(words, { environment })]).toEqual([
        words,
        expect.objectContaining({ code: 2, errors: expect.stringContaining(message) }),
      ]);
    expect(await mcs('api POST /events --data {}', { environment })).toMatchObject({ code: 4 });
  });

  it('lists events, and shows new ones although its connection is cut', async () => {
    const proxy = await startProxy();
    proxy.target = service.baseUrl;
    const environment = { ...basicCredentials(), MCS_BASE_URL: proxy.url };
    const first = await run<{ event_id: string }>('trigger CARD_UPDATED --user feed-user');
    const words = 'events list --user feed-user --start 1h';
    expect(await text(words)).toMatch(/^id +time +event +body\n[\w-]+ +20\S+ \S+Z +CARD_UPDATED +\{"event"/);
    expect(await run(words)).toMatchObject([{ id: first.event_id, event: 'CARD_UPDATED' }]);
    expect(await run(`${words} --event CARD_FAILED AUTHENTICATED`)).toEqual([]);
    const tail = start(['events', 'tail', '--json', '--user', 'feed-user', '--start', '1h'], { environment });
    await tail.waitForOutput(new RegExp(first.event_id));
    proxy.target = undefined;
    await tail.waitForErrors(/Trying again/);
    const second = await run<{ event_id: string }>('trigger CARD_UPDATED --user feed-user');
    proxy.target = service.baseUrl;
    await tail.waitForOutput(new RegExp(second.event_id));
    const idsOf = (output: string): string[] =>
      output
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: string }).id);
    expect(idsOf(tail.output)).toEqual([first.event_id, second.event_id]);
    await proxy.close();
  });

  it('says where events tail continues when it was stopped, and when the cursor is too old', async () => {
    const environment = basicCredentials();
    const { event_id: first } = await run<{ event_id: string }>('trigger CARD_UPDATED --user stopped-user');
    const filter = ['--json', '--user', 'stopped-user'];
    const tail = start(['events', 'tail', ...filter, '--start', '1h'], { environment });
    await tail.waitForOutput(new RegExp(first));
    tail.signal('SIGINT');
    const { code, errors } = await tail.ended;
    const [, cursor = ''] = /mcs events tail --cursor (\S+)\n$/.exec(errors) ?? [];
    expect([code, cursor]).toEqual([0, expect.stringMatching(/./)]);
    const { event_id: second } = await run<{ event_id: string }>('trigger CARD_UPDATED --user stopped-user');
    const next = start(['events', 'tail', ...filter, '--cursor', cursor], { environment });
    await next.waitForOutput(new RegExp(second));
    expect(next.output).not.toContain(first);
    next.signal('SIGINT');
    await next.ended;

    const server = createHttpServer((_request, response) => {
      const body = {
        error_type: 'INVALID_REQUEST',
        error_code: 'EVENT_CURSOR_EXPIRED',
        error_message: 'Old.',
      };
      response.writeHead(410, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ ...body, oldest_cursor: 'oldest' }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const expired = await mcs('events tail --cursor old --json', {
      environment: { ...environment, MCS_BASE_URL: url },
    });
    expect([expired.code, JSON.parse(expired.errors)]).toEqual([
      1,
      expect.objectContaining({ error_code: 'EVENT_CURSOR_EXPIRED', oldest_cursor: 'oldest' }),
    ]);
    server.close();
  });

  it('manages agents, sign-in links and users', async () => {
    expect(await run('agents list --user nobody')).toEqual([]);
    expect(await run('agents code --user u --phone +12125550123')).toMatchObject({
      code: expect.any(String),
    });
    expect(await run('links list --user nobody')).toEqual([]);
    const unknown = '00000000-0000-4000-8000-000000000000';
    const environment = basicCredentials();
    for (const words of [
      `links cancel ${unknown}`,
      `agents disconnect ${unknown}`,
      `agents complete ${unknown} --user u`,
    ])
      expect([words, (await mcs(words, { environment })).errors]).toEqual([
        words,
        expect.stringContaining('status: 404'),
      ]);
    expect(await run('users erase erased-user')).toMatchObject({ status: expect.any(String) });
    expect(await text('users erasure erased-user')).toMatch(/status +\w+/);
  });

  it('lists profiles, and names an unknown one', async () => {
    expect(await run('profiles')).toEqual([]);
    mkdirSync(join(home, 'mcs'), { recursive: true });
    writeFileSync(
      settingsFile(),
      JSON.stringify({ profiles: { a: { client_id: 'id', client_secret: 'secret' }, b: {} } }),
    );
    expect(await text('--profile a profiles')).toMatch(
      /^profile +address +client +environment\na \* +- +id +-\nb +-/,
    );
    expect(await text('profiles')).not.toContain('secret');
    expect(await mcs('--profile c merchants', { environment: basicCredentials() })).toMatchObject({
      code: 2,
      errors:
        'Error: There is no profile c. Stored profiles: a, b.\nRun mcs login --profile c to create it.\n',
    });
  });

  it('creates and shows sign-in links', async () => {
    const link = (await run(
      'links create --user s --merchant 16 --expires-in 600 --metadata {"order":"7"}',
    )) as {
      readonly id: string;
    };
    expect(link).toMatchObject({ status: 'pending', url: expect.stringContaining('/sign-in/') });
    expect(await text('links create --user s --merchant 16')).toMatch(/^http\S+\/sign-in\/[\da-f-]{36}\n$/);
    // A link that was sent has no URL.
    expect(await text('links create --user s --merchant 16 --phone +12125550123')).toMatch(
      /^id +[\da-f-]{36}\n[\s\S]*proof +phone\n[\s\S]*merchant +Netflix\n$/,
    );
    expect(await run(`links get ${link.id}`)).toMatchObject({ id: link.id, source: 'backend' });
    expect(await text(`links get ${link.id}`)).toMatch(/^id +/);
    expect(await mcs('links create --user s')).toMatchObject({ code: 2 });
  });

  it('lists the audit log', async () => {
    const production = basicCredentials(service.production);
    const output = await text('audit --start 1h --limit 2', production);
    expect(output).toMatch(/^time +user +event +outcome +target\n20\S+ \S+Z +/);
    expect(await mcs('audit --start yesterday', { environment: production })).toMatchObject({ code: 2 });
  });
});

describe('mcs agent', () => {
  const connectorUrl = (): string => `${service.baseUrl}/mcp`;
  const run = (words: string, environment: Record<string, string> = {}) =>
    mcs(`agent --user robin ${words}`.trim(), { environment: { ...basicCredentials(), ...environment } });
  const call = async (tool: string, input: object, more = ''): Promise<Ended> =>
    run(`--tool ${tool} --arguments ${JSON.stringify(input)} ${more}`);

  it('prints a configuration for each agent, with a token that the connector accepts', async () => {
    const {
      token,
      url,
      clients: all,
    } = await json<{
      token: string;
      url: string;
      clients: Record<string, { file: string; content: object; command?: string }>;
    }>('agent --user robin', { environment: basicCredentials() });
    rememberSecret(token);
    const server = { url, headers: { Authorization: `Bearer ${token}` } };
    expect(url).toBe(connectorUrl());
    expect(Object.entries(all).map(([name, { file, content }]) => [name, file, content])).toEqual([
      ['claude', '.mcp.json', { mcpServers: { 'merchant-connectivity': { type: 'http', ...server } } }],
      ['cursor', '.cursor/mcp.json', { mcpServers: { 'merchant-connectivity': server } }],
      ['vscode', '.vscode/mcp.json', { servers: { 'merchant-connectivity': { type: 'http', ...server } } }],
    ]);
    expect(all['claude']?.command).toBe(
      `claude mcp add --transport http merchant-connectivity ${url} --header "Authorization: Bearer ${token}"`,
    );
    const { status } = await sendRpc(
      service,
      { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      { authorization: `Bearer ${token}` },
    );
    expect(status).toBe(200);
  });

  it('prints all of them for people, or the file of one agent alone', async () => {
    const { output, errors } = await run('');
    rememberSecret(/mcp_dev_\w+/.exec(output)?.[0] ?? '');
    expect(output).toMatch(
      /^Claude Code:\n\nclaude mcp add [^]*\nor in \.mcp\.json:\n[^]*\nCursor, in \.cursor\/mcp\.json:\n[^]*\nVS Code, in \.vscode\/mcp\.json:\n/,
    );
    expect(errors).toMatch(/^The token of robin expires at 20\S+Z\. Anyone who has it can act for the user/);
    const one = await run('--client vscode --expires-in 60 --connector-url https://agents.example.com/');
    const { servers } = JSON.parse(one.output) as { servers: Record<string, { url: string }> };
    rememberSecret(/mcp_dev_\w+/.exec(one.output)?.[0] ?? '');
    expect(servers['merchant-connectivity']?.url).toBe('https://agents.example.com/mcp');
    expect(one.errors).toMatch(/^VS Code reads this from \.vscode\/mcp\.json\.\nThe token/);
  });

  it('takes the address of the connector from the credentials file, or from the environment', async () => {
    const { clientId: client_id, secret } = service.development;
    const connector_url = 'https://agents.example.com';
    const input = JSON.stringify({ base_url: service.baseUrl, connector_url, client_id, secret });
    await mcs('login --credentials -', { input });
    const urlWith = async (environment: Record<string, string>): Promise<unknown> => {
      const { token, url } = await json('agent --user robin', { environment });
      rememberSecret(String(token));
      return url;
    };
    expect(await urlWith({ MCS_BASE_URL: '' })).toBe('https://agents.example.com/mcp');
    expect(await urlWith({ MCS_CONNECTOR_URL: 'https://other.example.com' })).toBe(
      'https://other.example.com/mcp',
    );
    // The stored address belongs to the stored service.
    expect(await urlWith({})).toBe(connectorUrl());
  });

  it('lists the tools that the token allows', async () => {
    const { output } = await run('--tools');
    expect(output).toMatch(/^name +arguments +title\n/);
    expect(output).toMatch(/^search_merchants +query, \[limit\], \[cursor\] +Search merchants$/m);
    expect(output).not.toContain('create_sign_in_link');
    const listed = await json<{ name: string }[]>('agent --user robin --phone +12125550123 --tools', {
      environment: basicCredentials(),
    });
    expect(listed.map(({ name }) => name)).toContain('create_sign_in_link');
  });

  it('calls a tool', async () => {
    const { code, output } = await call('search_detected_accounts', { names: ['Netflix'] }, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(output)).toEqual({
      results: [{ name: 'Netflix', detected: false, detected_at: null }],
    });
    expect((await run('--tool get_connection_info')).output).toMatch(
      /^\{\n {2}"environment": "development",\n/,
    );
  });

  it('fails with the message of the tool, or of the connector', async () => {
    expect(await call('create_sign_in_link', { merchant_id: 16 })).toMatchObject({
      code: 1,
      output: '',
      errors: expect.stringMatching(
        /^Error: This connection has no phone number of the user[^]*\n {2}error_code: NO_ACCESS\n {2}request_id: \S+\n$/,
      ),
    });
    expect(await run('--tool no_such_tool')).toMatchObject({
      code: 1,
      errors: 'Error: There is no tool with this name.\n',
    });
    const { code, errors } = await run('--tools --json', { MCS_CONNECTOR_URL: `${service.baseUrl}/nowhere` });
    expect(code).toBe(1);
    expect(JSON.parse(errors)).toMatchObject({
      status: 404,
      hint: 'Check the address of the agent connector (MCS_CONNECTOR_URL).',
    });
    expect(await run('--tools', { MCS_CONNECTOR_URL: 'http://127.0.0.1:2' })).toMatchObject({
      code: 1,
      errors: expect.stringContaining('The agent connector did not respond: connect ECONNREFUSED'),
    });
    for (const wrong of ['--client other', '--tools --tool x', '--arguments {}', '--tool x --arguments 1'])
      expect([wrong, (await run(wrong)).code]).toEqual([wrong, 2]);
    expect(await mcs('agent --user robin')).toMatchObject({ code: 4 });
  });
});

describe('The keys of endpoints', () => {
  it('are made and rotated by mcs endpoints, and verify deliveries with mcs verify', async () => {
    await storeLogin();
    const [headersFile, keyFile] = ['own-headers.txt', 'key.txt'].map((name) => join(clients.folder, name));
    writeFileSync(String(headersFile), 'X-Api-Key: gateway\r\n');
    const created = await json(
      `endpoints create --url ${receiver.url}/keyed --signing hmac --headers ${headersFile}`,
    );
    const { id, signing_key: secret } = created as Record<string, string>;
    rememberSecret(String(secret));
    expect(created).toMatchObject({ signing: 'hmac', header_names: ['X-Api-Key'] });
    expect(await mcs(`endpoints test ${id}`)).toMatchObject({ code: 0 });
    const arrival = receiver.arrivals.find(({ path }) => path === '/keyed');
    expect(arrival?.headers['x-api-key']).toBe('gateway');
    const headers = join(clients.folder, 'keyed.txt');
    const lines = Object.entries(arrival?.headers ?? {}).map(([name, value]) => `${name}: ${String(value)}`);
    writeFileSync(headers, lines.join('\n'));
    const verifyWith = (key: string): Promise<Ended> => {
      writeFileSync(String(keyFile), `${key}\n`);
      const input = arrival?.body.toString() ?? '';
      return mcs(`verify --headers ${headers} --secret-file ${keyFile}`, { input });
    };
    expect(await verifyWith(String(secret))).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^The signature with the key of the endpoint is valid\. MERCHANT_STATUS/),
    });
    expect(await verifyWith(service.development.secret)).toMatchObject({ code: 1 });
    expect(await verifyWith('whpk_x')).toMatchObject({ code: 2 });
    const rotated = await mcs(`endpoints rotate-key ${id} --signing ed25519 --overlap 1`);
    expect(rotated).toMatchObject({ code: 0, output: expect.stringMatching(/public key +whpk_/) });
    expect(await mcs(`endpoints rotate-key ${id}`)).toMatchObject({ code: 1 });
    writeFileSync(String(headersFile), 'x-api-key:\n');
    expect(await json(`endpoints update ${id} --headers ${headersFile}`)).toMatchObject({ header_names: [] });
    writeFileSync(String(headersFile), 'no colon\n');
    expect(await mcs(`endpoints update ${id} --headers ${headersFile}`)).toMatchObject({ code: 2 });
    expect(await mcs(`endpoints delete ${id}`)).toMatchObject({ code: 0 });
  });
});

describe('mcs listen', () => {
  it('forwards each event with its original headers and body, and mcs verify accepts them', async () => {
    const environment = basicCredentials();
    const listen = start(['listen', '--forward-to', `${receiver.url}/forwarded`], { environment });
    await listen.waitForErrors(/Listening/);
    const { event_id: id } = await json(`trigger CARD_UPDATED --user anna --data {"card_id":"c-9"}`, {
      environment,
    });
    await listen.waitForOutput(new RegExp(`CARD_UPDATED {2}200 {2}\\d+ ms {2}${String(id)}`));
    listen.signal('SIGINT');
    expect(await listen.ended).toMatchObject({
      code: 0,
      errors: expect.stringContaining(`To continue here: mcs listen --after ${String(id)}`),
    });
    const arrival = receiver.arrivals.find(({ path }) => path === '/forwarded');
    expect(arrival?.event).toMatchObject({ external_user_id: 'anna', data: { card_id: 'c-9' } });

    const headers = join(clients.folder, 'headers.txt');
    const lines = Object.entries(arrival?.headers ?? {}).map(([name, value]) => `${name}: ${String(value)}`);
    writeFileSync(headers, `POST /forwarded HTTP/1.1\r\n${lines.join('\r\n')}\r\n`);
    const body = arrival?.body.toString() ?? '';
    const verify = (input: string, secret = service.development.secret): Promise<Ended> =>
      mcs(`verify --headers ${headers}`, { input, environment: { MCS_CLIENT_SECRET: secret } });
    expect(await verify(body)).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^Both signatures are valid\. CARD_UPDATED, signed \d+ s ago\.\n$/),
    });
    expect(await verify(`${body}\n`)).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/does not match[^]*The body has \d+ bytes, but Content-Length says \d+/),
    });
    expect(await verify(body, 'another')).toMatchObject({ code: 1 });
    const secretFile = join(clients.folder, 'secret.txt');
    writeFileSync(secretFile, `${service.development.secret}\n`);
    expect(
      await mcs(`verify --headers ${headers} --secret-file ${secretFile}`, { input: body }),
    ).toMatchObject({
      code: 0,
    });
    expect(await mcs(`verify --headers ${headers} --secret-file none`, { input: body })).toMatchObject({
      code: 2,
      errors: expect.stringContaining('none cannot be read'),
    });
    expect(await mcs('verify', { input: body, environment })).toMatchObject({ code: 2 });
  });

  it('reports a local server that does not respond, and continues', async () => {
    const environment = basicCredentials();
    const listen = start(['listen', '--forward-to', 'http://127.0.0.1:1'], { environment });
    await listen.waitForErrors(/Listening/);
    await json('trigger CARD_UPDATED', { environment });
    await json('trigger CARD_FAILED', { environment });
    await listen.waitForOutput(/CARD_UPDATED {2}--- {2}ECONNREFUSED[^]*CARD_FAILED {2}--- {2}ECONNREFUSED/);
  });

  it('verifies the certificate of a server that is not on this machine', async () => {
    const tls = { key: RECEIVER_KEY, cert: RECEIVER_CERTIFICATES.selfSigned };
    const server = createHttpsServer(tls, (_request, response) => void response.end())
      .listen(0, '0.0.0.0')
      .unref();
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const environment = basicCredentials();
    const [here, elsewhere] = ['127.0.0.1', '0.0.0.0'].map((host) =>
      start(['listen', '--forward-to', `https://${host}:${port}`], { environment }),
    );
    await Promise.all([here?.waitForErrors(/Listening/), elsewhere?.waitForErrors(/Listening/)]);
    await json('trigger CARD_UPDATED', { environment });
    await here?.waitForOutput(/CARD_UPDATED {2}200/);
    await elsewhere?.waitForOutput(/CARD_UPDATED {2}--- {2}DEPTH_ZERO_SELF_SIGNED_CERT/);
    server.close();
  });

  it('continues after an event, and stops after as many as requested', async () => {
    const environment = basicCredentials();
    const ids: string[] = [];
    for (let number = 0; number < 4; number += 1)
      ids.push(String((await json('trigger CARD_UPDATED', { environment }))['event_id']));
    const { code, output } = await mcs(`listen --json --after ${ids[0]} --count 2`, { environment });
    expect(code).toBe(0);
    const events = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, string>);
    expect(events.map(({ id }) => id)).toEqual(ids.slice(1, 3));
    expect(JSON.parse(events[0]?.['body'] ?? '')).toMatchObject({ event: 'CARD_UPDATED' });
  });

  it('says so if its place in the stream is unknown, and continues with new events', async () => {
    const environment = basicCredentials();
    const listen = start(['listen', '--after', 'c0ffee00-0000-4000-8000-000000000000'], { environment });
    await listen.waitForErrors(/no longer knows the place[^]*Listening/);
    await json('trigger CARD_UPDATED', { environment });
    await listen.waitForOutput(/CARD_UPDATED/);
  });

  it('ends if the credentials are refused', async () => {
    expect(await mcs('listen', { environment: basicCredentials(service.production) })).toMatchObject({
      code: 1,
      errors: expect.stringContaining('requires development credentials'),
    });
  });

  // bench/stream-restarts.mjs restarts the service itself, 20 times.
  it('shows every event once although its connections are cut', async () => {
    const proxy = await startProxy();
    proxy.target = service.baseUrl;
    const environment = { ...basicCredentials(), MCS_BASE_URL: proxy.url };
    const listen = start(['listen', '--json'], { environment });
    await listen.waitForErrors(/Listening/);
    const ids: string[] = [];
    const publishing = (async () => {
      for (let number = 0; number < 150; number += 1) {
        const { body } = await service.request('/development/webhooks/trigger', {
          body: { event: 'CARD_UPDATED' },
          as: service.development,
        });
        ids.push(String(body['event_id']));
        await pause(10);
      }
    })();
    for (let round = 0; round < 6; round += 1) {
      await pause(200);
      proxy.target = undefined;
      await pause(100);
      proxy.target = service.baseUrl;
    }
    await publishing;
    const shown = (): string[] =>
      listen.output
        .split('\n')
        .filter(Boolean)
        .map((line) => (JSON.parse(line) as { id: string }).id);
    await eventually('all events are shown', () => shown().length >= ids.length);
    await pause(200);
    expect(shown()).toEqual(ids);
    expect(listen.errors).toContain('Connected again.');
    await proxy.close();
  }, 40_000);
});

/** Passes connections on to the target; without one, it closes them. */
async function startProxy() {
  const sockets = new Set<Socket>();
  let target: URL | undefined;
  const server: Server = createServer((incoming) => {
    sockets.add(incoming);
    incoming.on('error', () => undefined).once('close', () => sockets.delete(incoming));
    if (!target) return void incoming.destroy();
    const outgoing = connect(Number(target.port), target.hostname);
    outgoing.on('error', () => incoming.destroy()).once('close', () => incoming.destroy());
    incoming.once('close', () => outgoing.destroy());
    incoming.pipe(outgoing).pipe(incoming);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    set target(url: string | undefined) {
      target = url === undefined ? undefined : new URL(url);
      for (const socket of sockets) socket.destroy();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Responds to requests for a device code, with any address to open. */
async function startAuthorizationServer() {
  let verificationUri = '';
  const server = createHttpServer((request, response) => {
    const url = `http://${request.headers.host}`;
    const body = request.url?.startsWith('/.well-known')
      ? { issuer: url, device_authorization_endpoint: `${url}/code`, token_endpoint: `${url}/token` }
      : {
          device_code: 'd',
          user_code: 'ABCD-EFGH',
          verification_uri: verificationUri,
          expires_in: 60,
          interval: 5,
        };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  })
    .listen(0, '127.0.0.1')
    .unref();
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    set verificationUri(uri: string) {
      verificationUri = uri;
    },
    close: () => server.close(),
  };
}

describe('mcs logs', () => {
  beforeEach(() => storeLogin());

  const request = (user: string) =>
    service.request('/mcp/tokens/create', { body: { external_user_id: user }, as: service.development });
  /** The users of entries. Requests that other commands have sent are about no user. */
  const usersIn = (program: Program): string[] =>
    program.output
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { external_user_id: string | null }).external_user_id)
      .filter((user) => user !== null);

  it('lists, filters and gets entries', async () => {
    for (const user of ['list-1', 'list-2', 'list-1']) await request(user);
    const entries = await json<Record<string, unknown>[]>(
      'logs list --user list-1 --type request --start 1h',
    );
    expect(entries).toHaveLength(2);
    expect(entries[0]).toMatchObject({ external_user_id: 'list-1', path: '/mcp/tokens/create' });
    expect(await json<unknown[]>('logs list --user list-1 --limit 1')).toHaveLength(1);
    expect((await mcs('logs list --user list-2')).output).toMatch(
      /^id +time +status +ms +what +reason +user\n\d+ +\S+ \S+Z +200 +\d+ +POST \/mcp\/tokens\/create +- +list-2\n$/,
    );
    expect(await json(`logs get ${String(entries[0]?.['id'])}`)).toMatchObject({
      external_user_id: 'list-1',
    });
    await sendRpc(service, toolCall('get_connection_info'), {
      authorization: `Bearer ${await mcpToken(service, 'list-3')}`,
    });
    expect((await mcs('logs list --user list-3')).output).toMatch(
      /POST \/mcp get_connection_info +- +list-3\n/,
    );
    expect(await mcs('logs get 999999')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('REQUEST_LOG_NOT_FOUND'),
    });
    expect(await mcs('logs list --start yesterday')).toMatchObject({ code: 2 });
  });

  it('masks control characters that users and clients have chosen', async () => {
    const user = 'eve\u001b[2K\r2026-01-31 08:15:30Z  200\n\u009b31m\u202e';
    const shown = 'eve\\u{1b}[2K\\u{d}2026-01-31 08:15:30Z  200\\u{a}\\u{9b}31m\\u{202e}';
    await request(user);
    await request('after eve');
    // Requests of other tests that waited for events can end meanwhile.
    const entries = await json<{ id: number; external_user_id: string }[]>('logs list --limit 20');
    const entry = entries.find((each) => each.external_user_id === user);
    const tail = start(['logs', 'tail', '--lines', '20']);
    await tail.waitForOutput(/after eve/);
    for (const output of [
      (await mcs('logs list --limit 20')).output,
      (await mcs(`logs get ${entry?.id}`)).output,
      tail.output,
    ]) {
      expect(output).toContain(shown);
      // oxlint-disable-next-line no-control-regex
      expect(output).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }
    expect((await mcs('logs list --limit 20 --json')).output).toMatch(
      /"eve\\u001b\[2K\\r2026-01-31 08:15:30Z {2}200\\n\\u009b31m\\u202e"/,
    );
    expect((await start(['tokens', 'create', '--user', user, '--nonsense\u001b']).ended).errors).toBe(
      "Error: Unknown option '--nonsense\\u{1b}'\nRun mcs tokens create --help for help.\n",
    );
  });

  // bench/log-tail.mjs does this for a minute with 200 requests per second.
  it('shows each new entry once while many are added', async () => {
    const tail = start(['logs', 'tail', '--json', '--lines', '0', '--type', 'request']);
    await pause(500);
    await eventually('the tail has begun', async () => {
      await request('begun');
      // More than 300 entries within 10 s would be shown when they are settled.
      await pause(200);
      return tail.output !== '';
    });
    // Several pages, but few enough to be shown at once.
    const users = Array.from({ length: 200 }, (_, index) => `tail-${index}`);
    await Promise.all(
      Array.from({ length: 5 }, async (_, lane) => {
        for (const user of users.filter((_user, index) => index % 5 === lane)) await request(user);
      }),
    );
    const shown = (): string[] => usersIn(tail).filter((user) => user.startsWith('tail-'));
    await eventually('all entries are shown', () => shown().length >= users.length);
    await pause(1_500);
    expect(shown().toSorted()).toEqual(users.toSorted());
  }, 30_000);

  it('asks for a new approval when the token expires, and continues where it was', async () => {
    const tail = start(['logs', 'tail', '--json', '--lines', '0']);
    await eventually('the tail has begun', async () => {
      await request('before');
      return tail.output !== '';
    });
    changeProfile({ expires_at: new Date().toISOString() });
    await tail.waitForErrors(CODE);
    await request('meanwhile');
    await approve(tail);
    await request('after');
    await eventually('the entries are shown', () => usersIn(tail).includes('after'));
    expect(usersIn(tail).filter((user) => user !== 'before')).toEqual(['meanwhile', 'after']);
  }, 30_000);
});
