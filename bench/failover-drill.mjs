/**
 * Moves the address of the database to a promoted replica again and again, under load of tokens, searches, events, pages and agents.
 * The old primary goes on to respond, read-only, or its connections fall silent. In between, the password of the service is changed.
 * Nothing may be lost, nothing arrives twice, each failed request gets 503 with `Retry-After`, and everything works again 15 s later.
 * The service runs with the role of the service, not with that of the owner (docs/database.md, "Database roles").
 *
 * `npm run bench:failover -- --rounds 10`, `--one-process` for background work in the only API process
 */
import { execFile } from 'node:child_process';
import { parseArgs, promisify } from 'node:util';
import { setTimeout as pause } from 'node:timers/promises';
import { startDatabaseAddress } from '../test/support/database/database-address.ts';
import { startReplicatedPostgres } from '../test/support/database/replicated-postgres.ts';
import { accessToken } from './support/dashboard-login.mjs';
import { eventually, openDrill } from './support/drill.mjs';
import { openFleet } from './support/fleet.mjs';
import { openMixedLoad } from './support/mixed-load.mjs';
import { openWebhooks } from './support/webhooks.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '10' }, 'one-process': { type: 'boolean', default: false } },
});
const ROUNDS = Number(options.rounds);
/** Milliseconds. */
const RECOVERY_TIME = 15_000;
const NOT_READY_TIME = 5_000;
const SLOWEST = 10_000;
/** Requests per second. */
const RATES = { token: 20, search: 10, event: 10, page: 1, agent: 1 };
const PASSWORD = 'service-password';

// The processes inherit it: the role of the service may not change the schema.
process.env.MIGRATE_ON_START = 'off';
const names = Array.from({ length: ROUNDS }, (_, round) => `standby-${round + 1}`);
const { primary, ...standbys } = await startReplicatedPostgres(...names);
const waiting = Object.values(standbys);
let current = primary;
await primary.query(`CREATE ROLE service_owner LOGIN PASSWORD 'owner-password'`);
await primary.query(`CREATE ROLE service LOGIN PASSWORD '${PASSWORD}'`);
await primary.query('CREATE DATABASE service OWNER service_owner');
const urlOf = (server, username, password) =>
  Object.assign(new URL(server.url), { username, password, pathname: '/service' }).href;
const serviceUrl = (server) => urlOf(server, 'service', PASSWORD);
await promisify(execFile)(
  process.execPath,
  [new URL('../dist/src/cli/main.js', import.meta.url).pathname, 'migrate'],
  {
    env: {
      ...process.env,
      DATABASE_URL: serviceUrl(primary),
      DATABASE_OWNER_URL: urlOf(primary, 'service_owner', 'owner-password'),
    },
  },
);

/** The addresses for the service, and for the statements of this program. */
const address = await startDatabaseAddress(serviceUrl(primary));
const own = await startDatabaseAddress(serviceUrl(primary));
const bench = await openWorkbench({ databaseUrl: own.url });
const webhooks = await openWebhooks(bench, {
  receivers: 2,
  publishes: false,
  environment: {
    DATABASE_CONNECT_TIMEOUT_MS: '4000',
    LOG_LEVEL: 'warn',
    MCP_TOKEN_REQUESTS_PER_MINUTE: '1000000',
    WEBHOOK_RETRY_SECONDS: '1,2',
  },
});
const fleet = openFleet({ ...webhooks.settings, DATABASE_URL: address.url });
const drill = openDrill({ balancer: { counts: { retried: 0 }, retries: [] }, webhooks });
const { expect } = drill;

try {
  for (const port of webhooks.ports)
    await webhooks.addEndpoint(webhooks.client.clientId, `http://127.0.0.1:${port}/hook`);
  const apis = [await fleet.api({ environment: { BACKGROUND_WORK: options['one-process'] ? 'on' : 'off' } })];
  if (!options['one-process']) {
    apis.push(await fleet.api());
    await fleet.worker();
  }
  const { production } = webhooks.credentials;
  const { token: agent } = await created(apis[0].baseUrl, basic(production));
  const token = await accessToken(
    { baseUrl: apis[0].baseUrl, credentials: webhooks.credentials },
    'production',
    'request_logs:read',
  );
  const load = openMixedLoad({
    // The token of the pages names the process that issued it.
    baseUrl: (number, kind) => apis[kind === 'page' ? 0 : number % apis.length].baseUrl,
    clients: [production],
    developer: { client_id: webhooks.client.clientId, secret: webhooks.secret },
    token: () => token,
    agent: () => agent,
  });
  const statusOf = async ({ baseUrl }) => (await fetch(`${baseUrl}/readyz`)).status;
  const notReady = async () => {
    const from = performance.now();
    await eventually('no process is ready', async () =>
      (await Promise.all(apis.map(statusOf))).every((status) => status === 503),
    );
    return performance.now() - from;
  };
  /** Waits, and checks that no request fails that was sent more than 15 s after the fault. */
  const worksAgain = async (name, since = Date.now()) => {
    await pause(RECOVERY_TIME + 3_000);
    const late = load.requests.filter(
      ({ phase, status, at, milliseconds }) =>
        phase === name && milliseconds !== undefined && status !== 200 && at > since + RECOVERY_TIME,
    );
    expect(`${name}: ${late.length} requests failed more than 15 s after the fault`, late.length === 0);
  };
  const summary = (name, until) => {
    const of = load.requests.filter(({ phase }) => phase === name);
    const slowest = Math.max(...of.map(({ milliseconds = 0 }) => milliseconds));
    expect(`${name}: a request took ${slowest} ms`, slowest <= SLOWEST);
    expect(`${name}: not ready after ${until} ms only`, until <= NOT_READY_TIME);
    const failed = of.filter(({ status }) => status === 503).length;
    return `no process was ready after ${(until / 1000).toFixed(1)} s; ${failed} requests got 503 with Retry-After`;
  };

  for (let round = 1; round <= ROUNDS; round += 1) {
    const isSilent = round % 2 === 0;
    const name = `failover-${round}`;
    const title = `failover ${round}, the old primary ${isSilent ? 'falls silent' : 'goes on, read-only'}`;
    await drill.phase(load, RATES, { name, title, mayFail: true }, async () => {
      await pause(1_000);
      await current.query('ALTER SYSTEM SET default_transaction_read_only = on');
      await current.query('SELECT pg_reload_conf()');
      const until = await notReady();
      const old = current;
      current = waiting.shift();
      await promote(old, current);
      address.moveTo(serviceUrl(current));
      own.moveTo(serviceUrl(current));
      own.cut();
      if (isSilent) address.silence();
      const since = Date.now();
      await Promise.all(waiting.map((standby) => follow(standby, current)));
      await worksAgain(name, since);
      await old.stop();
      return summary(name, until);
    });
    if (round % 3 === 0) {
      const of = `password-${round}`;
      await drill.phase(
        load,
        RATES,
        { name: of, title: `password changed ${round / 3}`, mayFail: true },
        async () => {
          await current.query(`ALTER ROLE service PASSWORD 'rotated'`);
          await current.query(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'service'`,
          );
          const until = await notReady();
          await pause(5_000);
          await current.query(`ALTER ROLE service PASSWORD '${PASSWORD}'`);
          await worksAgain(of);
          return summary(of, until);
        },
      );
    }
    await drill.settle();
  }
  load.close();
  const arrangement = options['one-process'] ? 'one process' : 'two API processes and a worker';
  drill.report(`failover-drill${options['one-process'] ? '-one-process' : ''}`, {
    keep: ROUNDS >= 10,
    title: `Failovers of PostgreSQL under load: ${arrangement}, without retries`,
    goal: 'nothing lost, nothing twice, 503 only while no primary can be reached, not ready within 5 s',
    columns: ['fault'],
  });
} finally {
  await fleet.close();
  await webhooks.close();
  await Promise.all([address.close(), own.close()]);
  await bench.close();
  await Promise.all([current, ...waiting].map((server) => server.stop()));
}
drill.conclude(fleet);

async function promote(old, next) {
  const [{ position }] = await old.query('SELECT pg_current_wal_lsn() AS position');
  await eventually('the replica has everything', async () => {
    const [row] = await next.query('SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS "isCurrent"', [
      position,
    ]);
    return row.isCurrent;
  });
  await next.query('SELECT pg_promote()');
}

async function follow(standby, server) {
  await standby.query(`ALTER SYSTEM SET primary_conninfo = '${server.url}'`);
  await standby.query('SELECT pg_reload_conf()');
}

/** Creates a token for an agent. */
async function created(baseUrl, authorization) {
  const response = await fetch(`${baseUrl}/mcp/tokens/create`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: '{"external_user_id":"agent"}',
  });
  return response.json();
}
