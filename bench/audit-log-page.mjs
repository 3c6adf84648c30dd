/** Measures operation 4: pages of an audit log with a million entries, from the first to the deepest. */
import pg from 'pg';
import { reportTable } from './support/report.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const ENTRIES = Number(process.env.ENTRIES ?? 1_000_000);
const REQUESTS = Number(process.env.REQUESTS ?? 1_000);
const WARM_UP = 100;
const PAGE = 100;
const DEPTHS = [0, 300_000, 900_000].filter((depth) => depth < ENTRIES);
const BOUNDS = { start: '2025-01-01T00:00:00Z', end: '2026-12-31T23:59:59Z' };

const bench = await openWorkbench();
try {
  const service = await bench.service();
  await fill(service.databaseUrl, service.credentials.production.client_id);
  const authorization = basic(service.credentials.production);
  const page = async (query) => {
    const url = `${service.baseUrl}/audit_logs?${new URLSearchParams(query)}`;
    const before = performance.now();
    const response = await fetch(url, { headers: { authorization } });
    const body = await response.json();
    const milliseconds = performance.now() - before;
    if (response.status !== 200 || body.data.length !== PAGE)
      throw new Error(`${url} responded ${response.status} with ${body.data?.length} entries`);
    return { milliseconds, nextCursor: body.next_cursor };
  };

  const rows = [];
  for (const [label, bounds] of [
    ['', {}],
    [', with start and end', BOUNDS],
  ]) {
    let query = bounds;
    let depth = 0;
    for (const wanted of DEPTHS) {
      // Follow the cursors page by page, as a client does.
      for (; depth < wanted; depth += PAGE) query = { ...bounds, cursor: (await page(query)).nextCursor };
      const { p50, p99 } = await measure(() => page(query));
      const position = depth === 0 ? 'first page' : `after ${depth.toLocaleString('en')} entries`;
      console.error(`${position}${label}: p50 ${p50} ms, p99 ${p99} ms`);
      rows.push([`${position}${label}`, `${p50} ms`, `${p99} ms`]);
    }
  }
  reportTable('audit-log-page', {
    title: `Operation 4: a page of ${PAGE} out of ${ENTRIES.toLocaleString('en')} entries, one client over HTTP`,
    goal: 'p50 below 10 ms at any depth',
    columns: ['page', 'p50', 'p99'],
    rows,
  });
} finally {
  await bench.close();
}

/** Inserts an entry for every half minute. The hashes do not form a chain, because pages do not read them. */
async function fill(databaseUrl, clientId) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    `INSERT INTO audit_log (organization_id, sequence, id, created_at, action, outcome, actor_name, actor_email,
                            target_type, target_name, target_environment, context_ip, context_user_agent, hash)
     SELECT api_client.organization_id, number, gen_random_uuid(),
            '2026-12-01T00:00:00Z'::timestamptz - ($2 - number) * interval '30 seconds', 'user.update', 'success',
            'Ada Lovelace', 'ada@example.com', 'user', 'user-' || number || '@example.com', 'production',
            '203.0.113.7', 'Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101 Firefox/147.0',
            sha256(number::text::bytea)
       FROM api_client, generate_series(1, $2::bigint) number WHERE api_client.id = $1`,
    [clientId, ENTRIES],
  );
  await client.query('VACUUM ANALYZE audit_log');
  await client.end();
}

async function measure(work) {
  for (let round = 0; round < WARM_UP; round += 1) await work();
  const times = [];
  for (let round = 0; round < REQUESTS; round += 1) times.push((await work()).milliseconds);
  times.sort((left, right) => left - right);
  const percentile = (part) => (times[Math.floor(times.length * part)] ?? 0).toFixed(1);
  return { p50: percentile(0.5), p99: percentile(0.99) };
}
