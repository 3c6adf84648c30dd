/**
 * Breaks a distributed request log while webhooks are delivered and tokens are created: at each step of the two-phase commit
 * that settles a delivery, and by stopping a worker node as a crash does. Nothing may be lost or logged twice.
 *
 * CITUS_BINARIES is the folder of a PostgreSQL into which Citus is installed, such as /usr/lib/postgresql/15/bin.
 */
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startCitusCluster } from '../test/support/database/citus-cluster.mjs';
import { startCommitProxy } from './support/commit-proxy.mjs';
import { freePort, start } from './support/processes.mjs';
import { reportTable } from './support/report.mjs';
import { EXAMPLE_EVENT, openWebhooks } from './support/webhooks.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const { CITUS_BINARIES: binaries } = process.env;
if (!binaries) throw new Error('Set CITUS_BINARIES to the folder of a PostgreSQL that has Citus.');
const EVENTS = Number(process.env.EVENTS ?? 300);
const ENDPOINTS = 2;
/** Share of the commits that fail. */
const SHARE = 0.3;
const DRAIN_TIMEOUT = 180_000;
const RECOVERY = 5_000;
const DOWN = 10_000;
const CLI = new URL('../dist/src/cli/main.js', import.meta.url).pathname;
const MAIN = new URL('../dist/src/main.js', import.meta.url).pathname;

const directory = mkdtempSync(join(tmpdir(), 'bench-distribution-'));
chmodSync(directory, 0o755);
const cluster = await startCitusCluster({
  binaries,
  directory: join(directory, 'cluster'),
  durable: true,
  settings: { 'citus.recover_2pc_interval': `${RECOVERY}ms` },
});
const [coordinator, ...workers] = cluster.nodes;
const proxies = await Promise.all(workers.map(({ port }) => startCommitProxy(port)));
await cluster.createDatabase(
  'service',
  proxies.map(({ port }) => port),
);
const bench = await openWorkbench({ databaseUrl: cluster.urlOf('service', coordinator) });
const first = await bench.service({ BACKGROUND_WORK: 'off' });
await first.stop();
await promisify(execFile)(process.execPath, [CLI, 'database', 'distribute'], {
  env: { ...process.env, ...first.settings },
});
const webhooks = await openWebhooks(bench, {
  receivers: ENDPOINTS,
  environment: {
    DATABASE_DISTRIBUTION: 'citus',
    WEBHOOK_RETRY_SECONDS: '1,2',
    MCP_TOKEN_REQUESTS_PER_MINUTE: '100000000',
  },
});
const { client, ports, query } = webhooks;
const failures = [];
const rows = [];

/** Publishes events, waits until they are delivered, and checks the log. */
async function deliver(label, fault) {
  const since = new Date();
  const ids = [];
  await fault.begin();
  const before = fault.count ? await fault.count() : 0;
  for (let index = 0; index < EVENTS; index += 10) {
    ids.push(...(await Promise.all(Array.from({ length: 10 }, () => publish()))));
    await pause(50);
  }
  await drained();
  const injected = (await fault.count()) - before;
  await fault.end();
  await untilRecovered();
  rows.push([label, injected, EVENTS * ENDPOINTS, ...(await check(label, ids, since))]);
  console.error(rows.at(-1).join('  '));
}

async function publish() {
  for (;;) {
    try {
      return await webhooks.publish(EXAMPLE_EVENT, client);
    } catch {
      await pause(100);
    }
  }
}

async function drained() {
  const until = Date.now() + DRAIN_TIMEOUT;
  for (;;) {
    const waiting = await one('SELECT count(*)::int AS value FROM webhook_delivery');
    if (waiting === 0) return;
    if (Date.now() > until) return void failures.push(`${waiting} deliveries are still waiting`);
    await pause(250);
  }
}

async function untilRecovered() {
  for (const until = Date.now() + 12 * RECOVERY; Date.now() < until; await pause(500)) {
    const prepared = await Promise.all(
      cluster.nodes.map((node) => cluster.onNode(node, 'service', 'SELECT 1 FROM pg_prepared_xacts')),
    );
    if (prepared.every(({ rowCount }) => rowCount === 0)) return;
  }
  failures.push('prepared transactions remain');
}

/** @returns deliveries that did not arrive, that are not in the log, and that are in the log more than once */
async function check(label, ids, since) {
  const { rows: entries } = await query(
    `SELECT webhook_event_id AS event, webhook_endpoint_id AS endpoint, attempt, status_code AS status
       FROM request_log WHERE type = 'webhook' AND created_at >= $1`,
    [since],
  );
  const attempts = new Map();
  const successes = new Map();
  for (const { event, endpoint, attempt, status } of entries) {
    const key = `${event} ${endpoint}`;
    attempts.set(`${key} ${attempt}`, (attempts.get(`${key} ${attempt}`) ?? 0) + 1);
    if (status === 200) successes.set(key, (successes.get(key) ?? 0) + 1);
  }
  const arrived = ports.map((port) => new Set(webhooks.arrivals(port).map(({ eventId }) => eventId)));
  const missing = ids.flatMap((id) => arrived.filter((each) => !each.has(id))).length;
  const unlogged = ids.length * ENDPOINTS - successes.size;
  const twice =
    [...attempts.values()].filter((count) => count > 1).length +
    [...successes.values()].filter((count) => count > 1).length;
  for (const [what, count] of Object.entries({ missing, unlogged, twice })) {
    if (count > 0) failures.push(`${label}: ${count} ${what}`);
  }
  return [missing, unlogged, twice];
}

async function one(sql, parameters) {
  return (await query(sql, parameters)).rows[0]?.value;
}

/** Refuses commits on the coordinator, after all statements have succeeded. */
const refusedCommits = {
  async begin() {
    await query(`
      CREATE SEQUENCE refused_commits;
      CREATE FUNCTION refuse_commit() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF random() < ${SHARE} THEN
            PERFORM nextval('refused_commits');
            RAISE EXCEPTION 'injected' USING ERRCODE = 'serialization_failure';
          END IF;
          RETURN NULL;
        END $$;
      CREATE CONSTRAINT TRIGGER refuse_commit AFTER DELETE ON webhook_delivery DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION refuse_commit()`);
  },
  count: async () =>
    Number(await one('SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS value FROM refused_commits')),
  end: () => query('DROP FUNCTION refuse_commit CASCADE; DROP SEQUENCE refused_commits'),
};

function brokenConnections(command, when) {
  return {
    begin: async () => proxies.forEach((proxy) => (proxy.fault = { command, when, share: SHARE })),
    count: async () => proxies.reduce((sum, { injected }) => sum + injected, 0),
    end: async () => proxies.forEach((proxy) => (proxy.fault = undefined)),
  };
}

/**
 * Makes every transaction serializable, so that some fail with 40001 in the last step of their commit, when Citus has
 * already prepared the changes of the workers.
 */
const serializable = {
  begin: () => isolate('serializable'),
  async count() {
    await pause(1_500);
    return one(`SELECT xact_rollback::int AS value FROM pg_stat_database WHERE datname = 'service'`);
  },
  end: () => isolate('read committed'),
};

async function isolate(level) {
  await query(`ALTER DATABASE service SET default_transaction_isolation = '${level}'`);
  await query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'service' AND backend_type = 'client backend'
        AND pid <> pg_backend_pid()`,
  );
  await pause(500);
}

/**
 * Shows that the check can fail: a single row in VALUES is committed on the worker before the local commit. Returns how
 * many rows stay in the log when the commit fails with 40001, inserted with VALUES and with `unnest`.
 */
async function control() {
  await query('CREATE TABLE probe (id int)');
  const columns = 'client_id, environment, created_at, type, method, path, status_code, latency_ms';
  const kept = [];
  for (const source of ['VALUES (', 'SELECT * FROM (SELECT ']) {
    const path = `/probe/${kept.length}`;
    const row = `gen_random_uuid(), 'production', now(), 'request', 'POST', '${path}', 200::smallint, 1`;
    const insert = `INSERT INTO request_log (${columns}) ${source}${row}${source.startsWith('VALUES') ? ')' : ' FROM unnest(ARRAY[1])) entry'}`;
    const [first, second] = await Promise.all([webhooks.database.connect(), webhooks.database.connect()]);
    for (const each of [first, second]) {
      await each.query('BEGIN ISOLATION LEVEL SERIALIZABLE');
      await each.query('SELECT count(*) FROM probe');
    }
    await first.query('INSERT INTO probe VALUES (1)');
    await second.query('INSERT INTO probe VALUES (2)');
    await second.query(insert);
    await first.query('COMMIT');
    const outcome = await second.query('COMMIT').then(
      () => 'committed',
      ({ code }) => code,
    );
    if (outcome !== '40001') failures.push(`The control ended with ${outcome} instead of 40001`);
    for (const each of [first, second]) each.release();
    kept.push(await one(`SELECT count(*)::int AS value FROM request_log WHERE path = '${path}'`));
  }
  await query('DROP TABLE probe');
  return kept;
}

/** Stops a worker node like a crash, and starts it again, while tokens are created and events are published. */
async function crashWorker(process) {
  const seconds = new Map();
  const ids = [];
  const since = new Date();
  let created = 0;
  let slowest = 0;
  let isRunning = true;
  let restartedAt = Infinity;
  let recovered;
  const began = performance.now();
  const { development } = webhooks.credentials;
  const creators = Array.from({ length: 8 }, async () => {
    while (isRunning) {
      const sent = performance.now();
      const response = await fetch(`${process.baseUrl}/mcp/tokens/create`, {
        method: 'POST',
        headers: { authorization: basic(development), 'content-type': 'application/json' },
        body: JSON.stringify({ external_user_id: 'user-8f3a', expires_in: 3600 }),
      });
      await response.arrayBuffer();
      slowest = Math.max(slowest, performance.now() - sent);
      if (response.status === 200) created += 1;
      if (response.status === 200 && sent > restartedAt) recovered ??= performance.now() - restartedAt;
      const second = Math.floor((sent - began) / 1_000);
      const counts = seconds.get(second) ?? new Map();
      counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
      seconds.set(second, counts);
      await pause(80);
    }
  });
  const publisher = (async () => {
    while (isRunning) {
      ids.push(await publish());
      await pause(50);
    }
  })();
  await pause(5_000);
  const worker = await nodeOf(client.clientId);
  await worker.stop('SIGQUIT');
  await pause(DOWN);
  await worker.start();
  restartedAt = performance.now();
  await pause(15_000);
  isRunning = false;
  await Promise.all([...creators, publisher]);
  await drained();
  await untilRecovered();
  await pause(2_000);
  const logged = await one(
    `SELECT count(*)::int AS value FROM request_log WHERE path = '/mcp/tokens/create' AND status_code = 200 AND created_at >= $1`,
    [since],
  );
  if (logged < created) failures.push(`${created - logged} tokens are not in the log`);
  for (const [second, counts] of seconds) console.error(second, JSON.stringify([...counts]));
  const statuses = new Map();
  for (const counts of seconds.values())
    for (const [status, count] of counts) statuses.set(status, (statuses.get(status) ?? 0) + count);
  const [missing, unlogged, twice] = await check('crash', ids, since);
  return [
    ['responses', [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')],
    ['slowest response', `${slowest.toFixed(0)} ms`],
    ['first success after the node accepted connections', `${recovered?.toFixed(0)} ms`],
    ['tokens created, and their entries', `${created}, ${logged}`],
    [
      'deliveries: all, missing, not in the log, in the log twice',
      [ids.length * ENDPOINTS, missing, unlogged, twice].join(', '),
    ],
  ];
}

/** Returns the worker that has the entries of a client. */
async function nodeOf(clientId) {
  const port = await one(
    `SELECT nodeport AS value FROM pg_dist_placement JOIN pg_dist_node USING (groupid)
      WHERE shardid = get_shard_id_for_distribution_column('request_log', $1::uuid)`,
    [clientId],
  );
  return workers[proxies.findIndex((proxy) => proxy.port === port)];
}

let main;
try {
  for (const port of ports) await webhooks.addEndpoint(client.clientId, `http://127.0.0.1:${port}/hook`);
  const port = await freePort();
  main = {
    ...(await start(MAIN, {
      environment: { ...webhooks.settings, PORT: String(port) },
      ready: 'Listening on',
    })),
    baseUrl: `http://127.0.0.1:${port}`,
  };
  await deliver('the coordinator refuses the commit before a worker prepares it', refusedCommits);
  await deliver('the coordinator refuses the commit after the workers prepared it (40001)', serializable);
  for (const [command, name] of [
    ['PREPARE TRANSACTION', 'prepare'],
    ['COMMIT PREPARED', 'commit'],
  ]) {
    await deliver(`a connection breaks before a worker gets "${name}"`, brokenConnections(command, 'before'));
    await deliver(
      `a connection breaks before a worker confirms "${name}"`,
      brokenConnections(command, 'after'),
    );
  }
  const [kept, keptFromUnnest] = await control();
  if (kept !== 1) failures.push('The control kept no row: the check could not have failed');
  reportTable('distribution-commits', {
    title: `Settlement of deliveries with a distributed request log, while ${SHARE * 100} % of the commits fail`,
    goal: `nothing missing, and no attempt logged twice. As a control, a transaction with a single row in VALUES kept ${kept} row after its commit failed with 40001, one with a row from \`unnest\` ${keptFromUnnest}`,
    columns: ['fault', 'injected', 'deliveries', 'not arrived', 'not in the log', 'in the log twice'],
    rows,
  });
  reportTable('distribution-crash', {
    title: `A worker node crashes under load and starts again ${DOWN / 1_000} s later, with a distributed request log`,
    goal: 'nothing lost; requests are delayed or answered with 503; recovery without a restart of the service',
    columns: ['measurement', 'value'],
    rows: await crashWorker(main),
  });
  for (const failure of failures.slice(0, 20)) console.error(failure);
  if (failures.length > 0) process.exitCode = 1;
} finally {
  await main?.stop();
  await webhooks.close();
  await bench.close();
  for (const proxy of proxies) proxy.close();
  await cluster.stop();
  rmSync(directory, { recursive: true, force: true });
}
