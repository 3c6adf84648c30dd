/**
 * Upgrades a deployment of the last release to this build under load, and rolls it back, as docs/upgrades.md describes: two API
 * processes behind a load balancer, two workers, and a database with data of the release.
 *
 * `node bench/upgrade.mjs --entries 1000000`
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { checkOut, releases } from '../scripts/released.mjs';
import { startBalancer } from './support/balancer.mjs';
import { accessToken } from './support/dashboard-login.mjs';
import { openDrill } from './support/drill.mjs';
import { openFleet } from './support/fleet.mjs';
import { openMixedLoad } from './support/mixed-load.mjs';
import { openWebhooks } from './support/webhooks.mjs';
import { openWorkbench } from './support/workbench.mjs';

const { values: options } = parseArgs({
  options: {
    entries: { type: 'string', default: '1000000' },
  },
});
const [{ version, commit }] = releases();
/** Requests per second. */
const RATES = { token: 25, search: 15, event: 8, page: 1 };
/** Seconds before and after each step. */
const DURATION = 10;
const DAYS = 7;
const CLI = new URL('../dist/src/cli/main.js', import.meta.url).pathname;

const folder = mkdtempSync(join(tmpdir(), 'release-'));
checkOut(commit, folder);
execFileSync('npm', ['run', '--silent', 'build'], { cwd: folder, stdio: 'inherit' });
const build = join(folder, 'dist');

const bench = await openWorkbench({ build });
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

try {
  const { fillRequestLog } = await import(join(folder, 'bench/support/request-log-rows.mjs'));
  const { credentials } = webhooks;
  await fillRequestLog(webhooks.settings.DATABASE_URL, {
    rows: Number(options.entries),
    days: DAYS,
    bigClientId: credentials.production.client_id,
  });
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
    await drill.phase(load, RATES, { name, title, mayRetry: false }, async () => {
      await pause(DURATION * 1_000);
      const result = await work();
      await pause(DURATION * 1_000);
      return result;
    });
    await drill.settle();
  };
  /** Replaces one process after the other: first the API processes, then the workers. */
  const replaceWith = async (fleet) => {
    const codes = [];
    for (const [members, begin] of [
      [apis, () => fleet.api()],
      [workers, () => fleet.worker()],
    ])
      for (const [index, member] of members.entries()) {
        members[index] = await begin();
        await pause(500);
        codes.push(await member.stop());
      }
    return `exit codes ${codes.join(', ')}`;
  };

  await phase('before', `version ${version}`, async () => 'nothing happened');
  await phase('migrate', '`migrate` of this build', migrate);
  await phase('upgrade', 'each process replaced by one of this build', () => replaceWith(current));
  await phase('rollback', `each process replaced by one of ${version}`, () => replaceWith(old));
  await phase('again', 'each process replaced by one of this build again', () => replaceWith(current));
  load.close();
  drill.report('upgrade', {
    title: `Upgrade from ${version} under load, and back`,
    goal: 'nothing lost, and no failed request',
    columns: ['step'],
  });
} finally {
  await Promise.all([old.close(), current.close()]);
  await webhooks.close();
  balancer.close();
  await bench.close();
  rmSync(folder, { recursive: true, force: true });
}
const errors = [old, current]
  .flatMap((fleet) => fleet.messages())
  .filter(([message]) => message.startsWith('error'));
drill.expect(`the processes logged errors: ${errors.join('; ')}`, errors.length === 0);
drill.conclude(old, current);

async function migrate() {
  const from = performance.now();
  const child = spawn(process.execPath, [CLI, 'migrate'], {
    env: { ...process.env, ...webhooks.settings },
    stdio: ['ignore', 2, 2],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`migrate exited with ${code}`);
  const { rows } = await webhooks.query('SELECT count(*)::integer AS count FROM request_log');
  const seconds = ((performance.now() - from) / 1_000).toFixed(1);
  return `${seconds} s with ${rows[0].count.toLocaleString('en')} entries in the request log`;
}
