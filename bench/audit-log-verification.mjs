/**
 * Measures operation 4 of one organization while 50 clients of another one verify its audit log again and again, on the page and
 * with exports.
 */
import { execFileSync } from 'node:child_process';
import pg from 'pg';
import { CHAIN_START, hashEntry } from '../dist/src/modules/audit-logs/audit-chain.js';
import { openDashboard } from './support/dashboard-login.mjs';
import { latenciesOf, percentile } from './support/load.mjs';
import { reportTable } from './support/report.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const ENTRIES = Number(process.env.ENTRIES ?? 10_000);
const CLIENTS = 50;
const SECONDS = 10;
/** Requests per second. */
const RATE = 20;
const CLI = new URL('../dist/src/cli/main.js', import.meta.url).pathname;

const bench = await openWorkbench();
try {
  const service = await bench.service({ DASHBOARD_REQUESTS_PER_MINUTE: '1000000' });
  const other = JSON.parse(
    execFileSync(
      process.execPath,
      [
        CLI,
        'organization',
        'create',
        '--name',
        'Other',
        '--owner-email',
        'b@example.com',
        '--owner-name',
        'B',
      ],
      { env: { ...process.env, ...service.settings }, encoding: 'utf8' },
    ),
  );
  const visit = await openDashboard(service);
  const head = await fill(service.databaseUrl, service.credentials.production.client_id);
  const request = {
    url: `${service.baseUrl}/audit_logs`,
    method: 'GET',
    headers: { authorization: basic(other.production) },
  };
  const measure = () => latenciesOf(request, { rate: RATE, seconds: SECONDS });
  await measure();
  const rows = [['nothing', await measure()]];
  for (const [what, paths] of [
    // For comparison: what as many requests for a page cost that reads 50 entries.
    ['read the list', ['/dashboard/audit-log']],
    ['verify the newest entries', ['/dashboard/audit-log/verify']],
    [
      'verify 50 different parts',
      Array.from({ length: CLIENTS }, (_, index) => `/dashboard/audit-log/verify?up_to=${head - index}`),
    ],
    ['export', ['/dashboard/audit-log/export/ndjson']],
  ]) {
    // The first pages compile what they need.
    for (let visits = 0; visits < 20; visits += 1) await visit(paths[visits % paths.length]);
    let isOver = false;
    let answered = 0;
    const clients = Array.from({ length: CLIENTS }, async (_, index) => {
      while (!isOver) {
        const began = performance.now();
        const text = await visit(paths[index % paths.length]).catch((error) => {
          console.error(
            `${what}, after ${Math.round(performance.now() - began)} ms: ${error.cause ?? error}`,
          );
          return 'unchanged';
        });
        if (what.startsWith('verify') && !text.includes('unchanged'))
          throw new Error('The log is not intact');
        answered += 1;
      }
    });
    rows.push([what, await measure(), answered]);
    console.error(`${what}: ${answered} responses`);
    isOver = true;
    await Promise.all(clients);
  }
  reportTable('audit-log-verification', {
    title: `Operation 4 at ${RATE}/s while ${CLIENTS} clients of another organization use its log of ${ENTRIES.toLocaleString('en')} entries`,
    goal: 'p95 below 150 ms',
    columns: ['they', 'p50', 'p95', 'p99', 'their responses'],
    rows: rows.map(([what, latencies, answered = 0]) => [
      what,
      ...[0.5, 0.95, 0.99].map((share) => `${percentile(latencies, share).toFixed(0)} ms`),
      answered,
    ]),
  });
} finally {
  await bench.close();
}

/** Extends the chain of the client's organization. @returns the sequence of the head */
async function fill(databaseUrl, clientId) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows: organizations } = await client.query('SELECT organization_id FROM api_client WHERE id = $1', [
    clientId,
  ]);
  const [{ organization_id: organizationId }] = organizations;
  const { rows: heads } = await client.query('SELECT * FROM audit_chain WHERE organization_id = $1', [
    organizationId,
  ]);
  let last = heads[0] ?? CHAIN_START;
  const first = Number(last.sequence) + 1;
  const values = [];
  const datetime = new Date();
  for (let sequence = first; sequence < first + ENTRIES; sequence += 1) {
    const entry = {
      organizationId,
      sequence: String(sequence),
      id: crypto.randomUUID(),
      datetime,
      event: { action: 'user.update', outcome: { status: 'success' } },
      actor: { name: 'Ada Lovelace', email: 'ada@example.com' },
      target: { type: 'user', name: `user-${sequence}@example.com`, environment: 'production' },
      context: { ip: '203.0.113.7', user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:147.0)' },
      changes: null,
    };
    last = { sequence: entry.sequence, hash: hashEntry(entry, last) };
    values.push({ ...entry, hash: last.hash.toString('hex') });
  }
  await client.query(
    `INSERT INTO audit_log (organization_id, sequence, id, created_at, action, outcome, actor_name, actor_email,
                            target_type, target_name, target_environment, context_ip, context_user_agent, hash)
     SELECT $1, (e->>'sequence')::bigint, (e->>'id')::uuid, $3, e#>>'{event,action}', 'success', e#>>'{actor,name}',
            e#>>'{actor,email}', 'user', e#>>'{target,name}', 'production', e#>>'{context,ip}',
            e#>>'{context,user_agent}', decode(e->>'hash', 'hex')
       FROM jsonb_array_elements($2::jsonb) e`,
    [organizationId, JSON.stringify(values), datetime],
  );
  await client.query(
    `INSERT INTO audit_chain (organization_id, sequence, created_at, hash) VALUES ($1, $2, $3, $4)
     ON CONFLICT (organization_id) DO UPDATE SET sequence = $2, created_at = $3, hash = $4`,
    [organizationId, last.sequence, datetime, last.hash],
  );
  await client.query('VACUUM ANALYZE audit_log');
  await client.end();
  return Number(last.sequence);
}
