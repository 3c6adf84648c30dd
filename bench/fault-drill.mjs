/**
 * Runs two API processes behind a load balancer that retries, two workers, PostgreSQL and Redis under load, and injects
 * one fault after the other. After each fault, it checks that every request with a 200 response left its traces: the
 * token, the request log entry, and the event at every endpoint.
 *
 * `node bench/fault-drill.mjs --short`, `node bench/fault-drill.mjs --only postgres --only disk`
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { AuditVerification } from '../dist/src/modules/audit-logs/index.js';
import { OrganizationsService } from '../dist/src/modules/organizations/index.js';
import '../test/support/runner/register-typescript.mjs';
import { startBalancer } from './support/balancer.mjs';
import { accessToken } from './support/dashboard-login.mjs';
import { eventually, openDrill } from './support/drill.mjs';
import { metricsOf, openFleet } from './support/fleet.mjs';
import { openSmallDisk } from './support/full-disk.mjs';
import { openMixedLoad } from './support/mixed-load.mjs';
import { pausePostgres, restartPostgres } from './support/postgres.mjs';
import { startRedis } from './support/redis.mjs';
import { openWebhooks } from './support/webhooks.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const { values: options } = parseArgs({
  options: { short: { type: 'boolean', default: false }, only: { type: 'string', multiple: true } },
});
/** Number of kills per process kind, and seconds for which a state lasts. */
const [KILLS, DURATION] = options.short ? [1, 2] : [5, 8];
const SILENCES = options.short ? 2 : 10;
/** Milliseconds. */
const RECOVERY_TIME = 15_000;
/** Requests per second. */
const RATES = { token: 25, search: 15, event: 8, page: 1 };
const CUSTOMERS = 6;
/** Requests per minute that a client may send to operation 1, by default. */
const LIMIT = 600;
/**
 * Milliseconds for which a stopping process keeps serving, so that the load balancer notices with a check every half
 * second.
 */
const SHUTDOWN_DELAY = 2_500;
const NO_ROOM = /Request log entries are waiting in memory: .*No space left/;
const PAGES = 'request_logs:read';

const redis = await startRedis();
if (!redis) {
  const message = 'redis-server is not installed (on Debian: apt-get install redis-server).';
  if (process.env.CI === 'true') throw new Error(message);
  console.error(`${message} The Redis fault and the shared rate limit are not tested.`);
}
const bench = await openWorkbench();
const balancer = await startBalancer();
const webhooks = await openWebhooks(bench, {
  receivers: 2,
  environment: {
    DASHBOARD_URL: balancer.baseUrl,
    ...(redis && { REDIS_URL: redis.url }),
    // On a busy machine, requests must fail only because the database is unavailable, not because they wait. Three attempts of the
    // load balancer must fit into the time limit of the load.
    DATABASE_CONNECT_TIMEOUT_MS: '4000',
    SHUTDOWN_DELAY_MS: String(SHUTDOWN_DELAY),
    TRUSTED_PROXY_HOPS: '1',
    WEBHOOK_RETRY_SECONDS: '1,2',
    LOG_LEVEL: 'warn',
  },
});
const { startDatabaseAddress } = await import('../test/support/database/database-address.ts');
const address = await startDatabaseAddress(webhooks.settings.DATABASE_URL);
const fleet = openFleet({ ...webhooks.settings, DATABASE_URL: address.url }, balancer);
const disk = await openSmallDisk(webhooks.query, join(bench.directory, 'postgres'));

const drill = openDrill({ balancer, webhooks, only: options.only });
const { expect } = drill;

try {
  const endpoints = webhooks.ports.map(
    (port, index) => `http://127.0.0.1:${port}/${index === 0 ? 'hook' : 'slow'}`,
  );
  for (const url of endpoints) await webhooks.addEndpoint(webhooks.client.clientId, url);
  const customers = [];
  for (let index = 0; index < CUSTOMERS; index += 1) customers.push(await customer(index));
  const developer = { client_id: webhooks.client.clientId, secret: webhooks.secret };
  const apis = await Promise.all([fleet.api(), fleet.api()]);
  const workers = await Promise.all([fleet.worker(), fleet.worker()]);
  const login = () =>
    accessToken({ baseUrl: balancer.baseUrl, credentials: webhooks.credentials }, 'production', PAGES);
  let token = await login();
  const load = openMixedLoad({
    baseUrl: () => balancer.baseUrl,
    // The other clients must not have sent any requests before limitIsExact().
    clients: customers.splice(0, 3),
    developer,
    token: () => token,
  });
  const phase = async (name, title, rules, work) => {
    await drill.phase(load, RATES, { name, title, ...rules }, work);
    if (!options.short) await drill.settle();
  };

  async function customer(index) {
    const organizations = webhooks.get(OrganizationsService);
    const { production } = await organizations.create(
      await organizations.prepare({
        name: `Customer ${index}`,
        ownerEmail: `owner-${index}@example.com`,
        ownerName: 'Owner',
        ownerPassword: 'a long example password',
      }),
    );
    return { client_id: production.clientId, secret: production.secret };
  }

  /** Checks that a new client gets exactly its limit from all processes together. */
  async function limitIsExact() {
    if (!redis) return 'limits not tested without Redis';
    const authorization = basic(customers.pop());
    const send = async () => {
      const response = await fetch(`${balancer.baseUrl}/mcp/tokens/create`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: '{"external_user_id":"flood"}',
      });
      await response.arrayBuffer();
      return response.status;
    };
    const statuses = [];
    const client = async () => {
      while (statuses.length < LIMIT + 50) {
        const index = statuses.push(0) - 1;
        statuses[index] = await send();
      }
    };
    await Promise.all(Array.from({ length: 20 }, client));
    const of = (status) => statuses.filter((each) => each === status).length;
    const found = `${LIMIT + 50} requests of one client: ${of(200)} × 200, ${of(429)} × 429`;
    expect(`the limit is not exact: ${found}`, of(200) === LIMIT && of(429) === 50);
    return found;
  }

  const seconds = (count) => pause(count * 1000);

  await phase('steady', 'none', { mayRetry: false }, async () => {
    await seconds(DURATION);
    return limitIsExact();
  });

  await phase('worker-kill', 'SIGKILL of a worker', { mayRepeat: true }, async () => {
    for (let kill = 0; kill < KILLS; kill += 1) {
      await seconds(1);
      await workers[kill % 2].stop('SIGKILL');
      await seconds(1);
      workers[kill % 2] = await fleet.worker();
    }
    await seconds(1);
    const [{ cut }] = (
      await webhooks.query(
        'SELECT count(*)::integer AS cut FROM webhook_delivery WHERE attempt_started_at IS NOT NULL',
      )
    ).rows;
    return `${KILLS} kills; the other worker continues, and interrupted attempts are repeated within seconds (${cut} in progress)`;
  });

  await phase('api-kill', 'SIGKILL of an API process', {}, async () => {
    for (let kill = 0; kill < KILLS; kill += 1) {
      await seconds(1);
      await apis[kill % 2].stop('SIGKILL');
      await seconds(0.5);
      apis[kill % 2] = await fleet.api();
    }
    await seconds(1);
    return `${KILLS} kills; the load balancer resends the requests that were in progress`;
  });

  await phase('rolling', 'rolling deployment: SIGTERM to every process', { mayRetry: false }, async () => {
    const codes = [];
    const times = [];
    const roll = async (members, index, replacement) => {
      const old = members[index];
      members[index] = await replacement();
      await seconds(0.5);
      const from = performance.now();
      codes.push(await old.stop());
      times.push(performance.now() - from);
    };
    for (const index of [0, 1]) await roll(apis, index, () => fleet.api());
    for (const index of [0, 1]) await roll(workers, index, () => fleet.worker());
    expect(
      `exit codes ${codes}`,
      codes.every((code) => code === 0),
    );
    return `exit codes ${codes.join(', ')} after ${times.map((time) => `${(time / 1000).toFixed(1)} s`).join(', ')}`;
  });

  await phase('postgres', 'PostgreSQL restarted', { mayFail: true, mayRepeat: true }, async () => {
    await seconds(1);
    const stopped = performance.now();
    await restartPostgres(join(bench.directory, 'postgres'), async () => {
      await seconds(DURATION / 2);
      expect('the exit code of an API process is not 0', (await apis[0].stop()) === 0);
    });
    const downFor = (performance.now() - stopped) / 1000;
    await eventually('PostgreSQL is available', () =>
      webhooks.query('SELECT 1').then(
        () => true,
        () => false,
      ),
    );
    const back = Date.now();
    apis[0] = await fleet.api();
    await seconds(DURATION);
    const refused = load.requests.filter(({ phase: of, status }) => of === 'postgres' && status === 503);
    const last = Math.max(0, ...refused.map(({ at, milliseconds }) => at + milliseconds - back));
    expect('requests fail 2 s after the database is back', last < 2_000);
    expect('no request failed, so the server was not down', refused.length > 0);
    return `down for ${downFor.toFixed(1)} s, with a SIGTERM to an API process: ${refused.length} requests got 503 with Retry-After and none failed otherwise; the last one ${last} ms after the restart`;
  });

  /** Checks that no request fails that was sent more than 15 s after the fault. */
  const worksAgain = (name, since) => {
    const late = load.requests.filter(
      ({ phase: of, status, at, milliseconds }) =>
        of === name && milliseconds !== undefined && status !== 200 && at > since + RECOVERY_TIME,
    );
    expect(`${name}: ${late.length} requests failed more than 15 s after the fault`, late.length === 0);
  };
  const failedOf = (name) =>
    load.requests.filter(({ phase: of, status }) => of === name && status === 503).length;
  /** Waits until all API processes say that they are not ready. */
  const notReady = async () => {
    const from = performance.now();
    const status = async ({ baseUrl }) => (await fetch(`${baseUrl}/readyz`)).status;
    await eventually('no API process is ready', async () =>
      (await Promise.all(apis.map(status))).every((each) => each === 503),
    );
    return `${((performance.now() - from) / 1000).toFixed(1)} s`;
  };

  await phase('silence', 'all connections to PostgreSQL fall silent', { mayFail: true }, async () => {
    for (let round = 0; round < SILENCES; round += 1) {
      await seconds(1);
      address.silence();
      const since = Date.now();
      await seconds(options.short ? 17 : 20);
      worksAgain('silence', since);
    }
    return `${SILENCES} times, while new connections work: ${failedOf('silence')} requests got 503 with Retry-After`;
  });

  await phase('paused', 'PostgreSQL paused (SIGSTOP)', { mayFail: true }, async () => {
    let until = '';
    await pausePostgres(join(bench.directory, 'postgres'), async () => {
      until = await notReady();
      await seconds(options.short ? 8 : 20);
    });
    const since = Date.now();
    await seconds(options.short ? 16 : 20);
    worksAgain('paused', since);
    return `no process was ready after ${until}; ${failedOf('paused')} requests got 503 with Retry-After`;
  });

  await phase('read-only', 'PostgreSQL read-only', { mayFail: true }, async () => {
    await webhooks.query('ALTER SYSTEM SET default_transaction_read_only = on');
    await webhooks.query('SELECT pg_reload_conf()');
    const until = await notReady();
    await seconds(DURATION);
    await webhooks.query('ALTER SYSTEM RESET default_transaction_read_only');
    await webhooks.query('SELECT pg_reload_conf()');
    const since = Date.now();
    await seconds(options.short ? 16 : 20);
    worksAgain('read-only', since);
    return `no process was ready after ${until}; ${failedOf('read-only')} requests got 503 with Retry-After`;
  });

  if (redis)
    await phase('redis', 'Redis restarted', { mayRetry: false }, async () => {
      await seconds(1);
      await redis.restart(1_000);
      const state = async (member) => (await metricsOf(member))('mcs_redis_state', 'state="connected"');
      await eventually('all processes are connected', async () => {
        const states = await Promise.all(apis.map(state));
        return states.every((each) => each === 1);
      });
      return `each process counted in memory for a moment; afterwards, ${await limitIsExact()}`;
    });

  await phase('disk', 'disk full', { mayRepeat: true, mayRetry: false }, async () => {
    await disk.use();
    await forgetPartitions();
    await disk.fill();
    const writtenFiles = async () =>
      (await webhooks.query('SELECT count(*)::integer AS count FROM request_log_file')).rows[0].count;
    const rowsInDefault = async () =>
      (await webhooks.query('SELECT count(*)::integer AS count FROM request_log_default')).rows[0].count;

    const partitionsAhead = async () => {
      const { rows } = await webhooks.query(
        `SELECT count(*)::integer AS count FROM pg_inherits
          WHERE inhparent = 'request_log'::regclass AND inhrelid::regclass::text ~ '^request_log_[0-9]{8}$'
            AND right(inhrelid::regclass::text, 8) > to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')`,
      );
      return rows[0].count;
    };

    // Today has no partition, and none can be created.
    const witness = await fleet.worker();
    await eventually(
      'the log says that no partition was created',
      () => countLines(witness, /The partitions are not complete/) === 1,
    );
    const full = await metricsOf(witness);
    expect(
      'the metrics do not show the missing partitions',
      full('mcs_partitions_ahead', 'request_log') === 0,
    );
    await seconds(1);
    const inDefault = await rowsInDefault();
    expect('no entry is in the default partition', inDefault > 0);
    await disk.free();
    await witness.stop();
    await workers[0].stop();
    workers[0] = await fleet.worker();
    // In the background. The metric is read once, because it is kept for a minute.
    await eventually('the partitions are created', async () => (await partitionsAhead()) === 7);
    await eventually('no entry is left in the default partition', async () => (await rowsInDefault()) === 0);
    const recovered = await metricsOf(workers[0]);
    expect('the metrics show missing partitions', recovered('mcs_partitions_ahead', 'request_log') === 7);

    // Today's partition is on the full disk.
    await disk.fill();
    await eventually('entries wait', () => apis.every((api) => countLines(api, NO_ROOM) >= 1));
    const from = performance.now();
    await seconds(DURATION);
    const waiting = await Promise.all(
      apis.map(async (api) => (await metricsOf(api))('mcs_request_log_entries_waiting')),
    );
    const [stopped] = apis;
    const exitCode = await stopped.stop();
    const saved = countLines(stopped, /entries could not be written to the database: \d+ are saved/);
    expect(`${stopped.name} exited with ${exitCode} and saved ${saved} files`, exitCode === 0 && saved > 0);
    expect(`${stopped.name} lost entries`, countLines(stopped, /entries are lost/) === 0);
    const before = await writtenFiles();
    await disk.free();
    apis[0] = await fleet.api();
    await eventually('the saved entries are written', async () => (await writtenFiles()) > before);
    await eventually('no entry waits', async () => {
      const left = await Promise.all(
        apis.map(async (api) => (await metricsOf(api))('mcs_request_log_entries_waiting')),
      );
      return left.every((each) => each < 50);
    });
    for (const api of apis) {
      const lost = (await metricsOf(api))('mcs_request_log_entries_lost_total');
      expect(`${api.name} lost ${lost} entries`, lost === 0);
    }
    for (const api of [stopped, apis[1]]) {
      const complaints = countLines(api, NO_ROOM);
      expect(`${api.name} logged the problem ${complaints} times`, complaints >= 1 && complaints <= 3);
    }
    return (
      `${disk.what}. While no partition could be created: one log line, \`mcs_partitions_ahead\` 0, ${inDefault} entries in ` +
      `the default partition, which were moved when there was space. While no row could be added: for ` +
      `${Math.round(performance.now() - from)} ms, up to ${waiting.join(' and ')} entries waited in memory, with one log ` +
      `line per process. A process that received SIGTERM meanwhile saved its entries in a file. All were written afterwards`
    );
  });

  await phase('clock', 'clocks 30 s off', { mayRetry: false }, async () => {
    const [ahead, behind] = await Promise.all([
      fleet.api({ clockAhead: 30 }),
      fleet.worker({ clockAhead: -30 }),
    ]);
    await Promise.all([apis[0].stop(), workers[0].stop()]);
    [apis[0], workers[0]] = [ahead, behind];
    const tokens = [await login(), await login()];
    for (const each of tokens) {
      for (const { baseUrl } of apis) {
        const response = await fetch(`${baseUrl}/request-logs?environment=production`, {
          headers: { authorization: `Bearer ${each}` },
        });
        await response.arrayBuffer();
        expect(`a request with a token got status ${response.status}`, response.status === 200);
      }
    }
    token = tokens[1];
    const exact = await limitIsExact();
    await seconds(1);
    const [{ id }] = (await webhooks.query(`SELECT id FROM organization ORDER BY created_at LIMIT 1`)).rows;
    const { flaw } = await webhooks.get(AuditVerification).verify(id);
    expect(`the audit chain: ${flaw?.explanation}`, flaw === undefined);
    return `an API process 30 s ahead and a worker 30 s behind: 2 device flows across both API processes, both accept the tokens, the audit chain is intact, ${exact}`;
  });

  await drill.settle();
  load.close();

  /** Simulates that the background work was down for days: moves the rows of today's partition to the default partition. */
  async function forgetPartitions() {
    const today = `request_log_${new Date().toISOString().slice(0, 10).replaceAll('-', '')}`;
    const ahead = (
      await webhooks.query(
        `SELECT inhrelid::regclass::text AS name FROM pg_inherits
          WHERE inhparent = 'request_log'::regclass AND inhrelid::regclass::text > $1
            AND inhrelid::regclass::text <> 'request_log_default'`,
        [today],
      )
    ).rows;
    await webhooks.query(
      `BEGIN;
       LOCK TABLE request_log, request_log_default IN ACCESS EXCLUSIVE MODE;
       ALTER TABLE request_log DETACH PARTITION ${today};
       INSERT INTO request_log OVERRIDING SYSTEM VALUE SELECT * FROM ${today};
       DROP TABLE ${[today, ...ahead.map(({ name }) => name)].join(', ')};
       COMMIT`,
    );
  }

  drill.report('fault-drill', {
    keep: !options.short && !options.only,
    title: 'Fault drill: two API processes and two workers under load',
    goal: 'nothing lost, and no failed request except while PostgreSQL is down',
    columns: ['fault'],
  });
} finally {
  await fleet.close();
  await webhooks.close();
  balancer.close();
  await redis?.stop();
  await address.close();
  await bench.close();
  disk.close();
}
drill.conclude(fleet);

/** Counts the log lines of a process that match a pattern. */
function countLines(member, pattern) {
  return member.lines().filter(({ message }) => pattern.test(message)).length;
}
