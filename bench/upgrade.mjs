/**
 * Upgrades a deployment of the last release to this build under load, and rolls it back, as docs/upgrades.md describes: two API
 * processes behind a load balancer, two workers, and a database with data of the release. Meanwhile, `pg_dump` reads the database,
 * which is a PostgreSQL that is installed on the machine.
 *
 * `node bench/upgrade.mjs --entries 1000000 --rows 100000 --dump 30`
 */
import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { checkOut, upgradedRelease } from '../scripts/released.mjs';
import { startCitusCluster } from '../test/support/database/citus-cluster.mjs';
import { startBalancer } from './support/balancer.mjs';
import { accessToken, openBrowser } from './support/dashboard-login.mjs';
import { openDrill } from './support/drill.mjs';
import { fillTables } from './support/filled-tables.mjs';
import { openFleet } from './support/fleet.mjs';
import { openLockProbe } from './support/lock-probe.mjs';
import { openMixedLoad } from './support/mixed-load.mjs';
import { postgresPrograms } from './support/postgres.mjs';
import { openWebhooks } from './support/webhooks.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const { values: options } = parseArgs({
  options: {
    entries: { type: 'string', default: '1000000' },
    /** Rows of each other table. */
    rows: { type: 'string', default: '100000' },
    /** Seconds for which `pg_dump` keeps its locks during the migration. */
    dump: { type: 'string', default: '30' },
  },
});
const { version, commit } = upgradedRelease();
/** Requests per second. */
const RATES = { token: 25, search: 15, event: 8, page: 1 };
/** Seconds before and after each step. */
const DURATION = 10;
const DAYS = 7;
/** Milliseconds. */
const LONGEST_WAIT = 2_000;
/** The number of each kind in each step. */
const SINGLE_USES = 10;
/** The ID of Netflix in the catalog. */
const MERCHANT = 16;
const CLI = new URL('../dist/src/cli/main.js', import.meta.url).pathname;

const folder = mkdtempSync(join(tmpdir(), 'release-'));
checkOut(commit, folder);
execFileSync('npm', ['run', '--silent', 'build'], { cwd: folder, stdio: 'inherit' });
const build = join(folder, 'dist');

const binaries = postgresPrograms();
// PostgreSQL may run as another user, who must be able to enter the folder.
chmodSync(folder, 0o755);
const postgres = await startCitusCluster({
  binaries,
  directory: join(folder, 'postgres'),
  workers: 0,
  durable: false,
  settings: { shared_preload_libraries: '' },
});
await postgres.onNode(postgres.nodes[0], 'postgres', 'CREATE DATABASE upgraded');
const bench = await openWorkbench({ build, databaseUrl: postgres.urlOf('upgraded') });
const balancer = await startBalancer();
const webhooks = await openWebhooks(bench, {
  receivers: 2,
  publishes: false,
  environment: {
    DASHBOARD_URL: balancer.baseUrl,
    MCP_TOKEN_REQUESTS_PER_MINUTE: '100000000',
    SHUTDOWN_DELAY_MS: '1500',
    TRUSTED_PROXY_HOPS: '1',
    LOG_LEVEL: 'warn',
  },
});
const old = openFleet(webhooks.settings, balancer, build);
const current = openFleet(webhooks.settings, balancer);
const drill = openDrill({ balancer, webhooks });
const links = [];
const keys = [];
let probe;

try {
  const { fillRequestLog } = await import(join(folder, 'bench/support/request-log-rows.mjs'));
  const { credentials } = webhooks;
  await fillRequestLog(webhooks.settings.DATABASE_URL, {
    rows: Number(options.entries),
    days: DAYS,
    bigClientId: credentials.production.client_id,
  });
  const tables = await fillTables(webhooks.settings.DATABASE_URL, Number(options.rows));
  console.error(`${options.rows} rows in each of ${tables.length} tables: ${tables.join(', ')}`);
  probe = await openLockProbe(webhooks.settings.DATABASE_URL);
  for (const port of webhooks.ports)
    await webhooks.addEndpoint(webhooks.client.clientId, `http://127.0.0.1:${port}/hook`);
  const apis = await Promise.all([old.api(), old.api()]);
  const workers = await Promise.all([old.worker(), old.worker()]);
  const token = await accessToken(
    { baseUrl: balancer.baseUrl, credentials },
    'production',
    'request_logs:read',
  );
  const load = openMixedLoad({
    baseUrl: () => balancer.baseUrl,
    clients: [credentials.production],
    developer: credentials.development,
    token: () => token,
  });
  const phase = async (name, title, work) => {
    probe.take();
    await drill.phase(load, RATES, { name, title, mayRetry: false }, async () => {
      await pause(DURATION * 1_000);
      const result = await work();
      await pause(DURATION * 1_000);
      const { milliseconds, table } = probe.take();
      drill.expect(`${title}: ${table} was locked for ${milliseconds} ms`, milliseconds < LONGEST_WAIT);
      return `${result}; longest wait for a lock ${milliseconds} ms`;
    });
    const slowest = Math.max(
      ...load.requests.filter((each) => each.phase === name).map(({ milliseconds }) => milliseconds),
    );
    drill.expect(`${title}: a request took ${slowest} ms`, slowest < LONGEST_WAIT);
    await drill.settle();
  };
  /** Replaces one process after the other: first the API processes, then the workers. Between them, both releases run. */
  const replaceWith = async (fleet, whileBothRun = async () => []) => {
    const codes = [];
    let result = [];
    for (const [members, begin] of [
      [apis, () => fleet.api()],
      [workers, () => fleet.worker()],
    ])
      for (const [index, member] of members.entries()) {
        members[index] = await begin();
        await pause(500);
        codes.push(await member.stop());
        if (members === apis && index === 0) result = await whileBothRun(apis[1], apis[0]);
      }
    return [`exit codes ${codes.join(', ')}`, ...result].join('; ');
  };

  await phase('before', `version ${version}`, async () => 'nothing happened');
  await phase('migrate', '`migrate` of this build while `pg_dump` runs', migrate);
  await phase('upgrade', 'each process replaced by one of this build', () => replaceWith(current, useOnce));
  await phase('rollback', `each process replaced by one of ${version}`, () => replaceWith(old, useOnce));
  await phase('rolled back', `version ${version} on the new schema`, async () =>
    (await useAgain(apis)).join('; '),
  );
  await phase('again', 'each process replaced by one of this build again', () =>
    replaceWith(current, useOnce),
  );
  await phase('at last', 'this build', async () => (await useAgain(apis)).join('; '));
  load.close();
  drill.report('upgrade', {
    title: `Upgrade from ${version} under load, and back`,
    goal: `nothing lost, no failed request, nobody waits longer than ${LONGEST_WAIT / 1_000} s, and nothing works twice, with ${Number(options.rows).toLocaleString('en')} rows in each table`,
    columns: ['step'],
  });
} finally {
  await probe?.close();
  await Promise.all([old.close(), current.close()]);
  await webhooks.close();
  balancer.close();
  await bench.close();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
const errors = [old, current]
  .flatMap((fleet) => fleet.messages())
  .filter(([message]) => message.startsWith('error'));
drill.expect(`the processes logged errors: ${errors.join('; ')}`, errors.length === 0);
drill.conclude(old, current);

async function migrate() {
  const dump = await startDump();
  const from = performance.now();
  let output = '';
  const child = spawn(process.execPath, [CLI, 'migrate'], {
    env: { ...process.env, ...webhooks.settings },
    stdio: ['ignore', 2, 'pipe'],
  });
  child.stderr.setEncoding('utf8').on('data', (text) => (output += text));
  const ended = once(child, 'exit');
  await pause(Number(options.dump) * 1_000);
  const finished = performance.now();
  await dump.end();
  const [code] = await ended;
  process.stderr.write(output);
  if (code !== 0) throw new Error(`migrate exited with ${code}`);
  drill.expect(
    'migrate does not say for whom it waits',
    /waits until other transactions end.*pg_dump/.test(output),
  );
  const { rows } = await webhooks.query('SELECT count(*)::integer AS count FROM request_log');
  const seconds = (since) => ((performance.now() - since) / 1_000).toFixed(1);
  return `${seconds(from)} s with ${rows[0].count.toLocaleString('en')} entries in the request log, ${seconds(finished)} s after \`pg_dump\` ended`;
}

/** Starts a backup that keeps its locks until it is told to end. */
async function startDump() {
  const dump = spawn(join(binaries, 'pg_dump'), [webhooks.settings.DATABASE_URL], {
    stdio: ['ignore', 'pipe', 2],
  });
  const ended = once(dump, 'exit');
  const locks = `SELECT FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE application_name = 'pg_dump' AND relation = 'webhook_lane'::regclass`;
  while ((await webhooks.query(locks)).rows.length === 0) await pause(50);
  return {
    async end() {
      dump.stdout.resume();
      const [code] = await ended;
      drill.expect(`pg_dump exited with ${code}`, code === 0);
    },
  };
}

/** Uses password links and idempotency keys in both releases at the same time. Each link works once, and each key has one response. */
async function useOnce(...members) {
  const { rows } = await webhooks.query(
    `SELECT user_id FROM password_link WHERE expires_at > now() ORDER BY user_id LIMIT ${SINGLE_USES} OFFSET ${links.length}`,
  );
  for (const { user_id } of rows) {
    const token = randomBytes(32).toString('base64url');
    // As the last release replaces a link.
    await webhooks.query(
      `INSERT INTO password_link (token_hash, user_id, expires_at) VALUES ($1, $2, now() + interval '1 hour')
       ON CONFLICT (user_id) DO UPDATE SET token_hash = EXCLUDED.token_hash, expires_at = EXCLUDED.expires_at`,
      [createHash('sha256').update(token).digest(), user_id],
    );
    links.push(token);
    const uses = await Promise.all(members.map((member) => usesLink(member, token)));
    drill.expect(
      `a password link worked ${uses.filter(Boolean).length} times`,
      uses.filter(Boolean).length === 1,
    );
  }
  for (let number = 0; number < SINGLE_USES; number += 1) {
    const key = randomUUID();
    const tokens = [];
    for (const member of number % 2 === 0 ? members : members.toReversed())
      tokens.push(await tokenWith(member, key));
    keys.push({ key, token: tokens[0] });
    drill.expect(`an idempotency key has the responses ${tokens.join(' and ')}`, new Set(tokens).size === 1);
  }
  for (let number = 0; number < SINGLE_USES; number += 1)
    for (const journey of [connectAgent, signIn])
      await journey(...(number % 2 === 0 ? members : members.toReversed()));
  return [
    `${SINGLE_USES} password links and ${SINGLE_USES} idempotency keys used in both releases, each once`,
    `${SINGLE_USES} agents connected and ${SINGLE_USES} accounts signed in to, each by both releases in turn`,
  ];
}

/**
 * Lets a user of the sandbox connect an agent: each request goes to the other process than the one before. The last release does not know
 * the form tokens of this build, and shows such a form again.
 */
async function connectAgent(first, second) {
  const issuer = `/connections/${webhooks.credentials.development.client_id}`;
  const redirectUri = 'https://agent.example.com/callback';
  const verifier = randomBytes(32).toString('base64url');
  const registration = await fetch(`${first.baseUrl}${issuer}/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ client_name: 'Agent', redirect_uris: [redirectUri] }),
  });
  const { client_id } = await registration.json();
  const browser = openBrowser(first.baseUrl);
  const parameters = new URLSearchParams({
    response_type: 'code',
    client_id,
    redirect_uri: redirectUri,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const begun = await browser.visit(`${second.baseUrl}${issuer}/authorize?${parameters}`);
  const { pathname } = new URL(begun.location, second.baseUrl);
  const send = (fields) => sendThrough(browser, [first, second], pathname, fields);
  await send({ action: 'log_in', external_user_id: `user of ${verifier}` });
  const { location } = await send({ action: 'approve' });
  const code = location && new URL(location).searchParams.get('code');
  const exchange = async ({ baseUrl }, fields) => {
    const body = new URLSearchParams({ client_id, ...fields });
    return (await fetch(`${baseUrl}${issuer}/token`, { method: 'POST', body })).json();
  };
  const redeemed = await exchange(first, {
    grant_type: 'authorization_code',
    code: code ?? '',
    redirect_uri: redirectUri,
    code_verifier: verifier,
  });
  const refreshed = await exchange(second, {
    grant_type: 'refresh_token',
    refresh_token: redeemed.refresh_token ?? '',
  });
  const listed = await callConnector(first, `/mcp/${webhooks.credentials.development.client_id}`, {
    token: refreshed.access_token,
    method: 'tools/list',
  });
  drill.expect(`an agent was not connected: ${begun.status}, ${listed.status}`, listed.status === 200);
}

/** Lets a user sign in at a merchant of the sandbox with a link of one release, whose page shows the other one. */
async function signIn(first, second) {
  const user = randomUUID();
  const credentials = webhooks.credentials.development;
  const created = await fetch(`${first.baseUrl}/mcp/tokens/create`, {
    method: 'POST',
    headers: { Authorization: basic(credentials), 'Content-Type': 'application/json' },
    body: JSON.stringify({ external_user_id: user, phone_number: `+1415555${randomInt(1_000, 9_999)}` }),
  });
  const { token } = await created.json();
  const called = await callConnector(first, '/mcp', {
    token,
    method: 'tools/call',
    params: { name: 'create_sign_in_link', arguments: { merchant_id: MERCHANT } },
  });
  const [path = ''] = /\/sign-in\/[\w-]+/.exec(await called.text()) ?? [];
  const fields = { action: 'sign_in', user_name: 'user_good', password: 'pass_good' };
  await sendThrough(openBrowser(first.baseUrl), [first, second], path, fields);
  const accounts = await fetch(`${first.baseUrl}/merchant-accounts?external_user_id=${user}`, {
    headers: { Authorization: basic(credentials) },
  });
  const text = await accounts.text();
  drill.expect(
    `an account was not signed in to: ${path.length}, ${text}`,
    /"state": *"connected"/.test(text),
  );
}

/** Shows a form of one process and sends it to another one. */
async function sendThrough(browser, [shows, takes], path, fields) {
  await browser.visit(`${shows.baseUrl}${path}`);
  const page = `${takes.baseUrl}${path}`;
  const sent = await browser.send(page, fields);
  return sent.status === 403 ? browser.send(page, fields) : sent;
}

function callConnector({ baseUrl }, path, { token, method, params }) {
  return fetch(`${baseUrl}${path}`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
}

/** Uses all password links and idempotency keys again. */
async function useAgain([member]) {
  for (const token of links)
    drill.expect('a used password link works again', !(await usesLink(member, token)));
  for (const { key, token } of keys)
    drill.expect('an idempotency key was forgotten', (await tokenWith(member, key)) === token);
  return [`${links.length} used password links refused, ${keys.length} idempotency keys known`];
}

async function usesLink({ baseUrl }, token) {
  const browser = openBrowser(baseUrl);
  await browser.visit('/password-reset');
  const password = randomBytes(16).toString('hex');
  const { location } = await browser.send('/password-reset/confirm', { token, new_password: password });
  return Boolean(location);
}

async function tokenWith({ baseUrl }, key) {
  const response = await fetch(`${baseUrl}/mcp/tokens/create`, {
    method: 'POST',
    headers: {
      Authorization: basic(webhooks.credentials.production),
      'Content-Type': 'application/json',
      'Idempotency-Key': key,
    },
    body: JSON.stringify({ external_user_id: `user of ${key}` }),
  });
  return (await response.json()).token;
}
