/** Measures operation 2: pending polls and redemptions, compared with `oidc-provider` on PostgreSQL. */
import pg from 'pg';
import { Pool } from 'undici';
import { reportTable } from './support/report.mjs';
import { openWorkbench } from './support/workbench.mjs';

const ROUNDS = Number(process.env.ROUNDS ?? 5);
/** Codes per round. Each is polled once, because a second poll would be too early. */
const CODES = Number(process.env.CODES ?? 2_000);
const CONNECTIONS = 16;
const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const UNLIMITED = '100000000';

const bench = await openWorkbench();
try {
  const service = await bench.service({
    DEVICE_CODES_PER_MINUTE: UNLIMITED,
    OAUTH_REQUESTS_PER_MINUTE: UNLIMITED,
    BACKGROUND_WORK: 'off',
  });
  const other = await bench.program('oidc-provider.mjs', { DATABASE_URL: await bench.database('oidc') });
  const database = new pg.Pool({ connectionString: service.databaseUrl, max: 1 });
  const clientId = service.credentials.production.client_id;
  const productPool = new Pool(service.baseUrl, { connections: CONNECTIONS });
  const comparisonPool = new Pool(other.baseUrl, { connections: CONNECTIONS });

  const product = {
    async seed(isApproved) {
      const codes = await inParallel(Array.from({ length: CODES }), async () => {
        const body = await post(productPool, '/oauth/device/code', { client_id: clientId });
        return body.device_code;
      });
      if (isApproved) {
        await database.query(
          `UPDATE device_authorization
              SET status = 'approved', decided_at = now(), user_id = (SELECT id FROM dashboard_user LIMIT 1)
            WHERE status = 'pending' AND NOT EXISTS (SELECT FROM device_poll WHERE authorization_id = id)`,
        );
      }
      return codes;
    },
    poll: (code, expected) =>
      post(
        productPool,
        '/oauth/token',
        { grant_type: GRANT, client_id: clientId, device_code: code },
        expected,
      ),
  };
  const comparison = {
    async seed(isApproved) {
      const { body } = await comparisonPool.request({
        path: `/seed?count=${CODES}${isApproved ? '&approved' : ''}`,
        method: 'POST',
      });
      return body.json();
    },
    poll: (code, expected) =>
      post(comparisonPool, '/token', { grant_type: GRANT, client_id: 'device', device_code: code }, expected),
  };

  const rows = [];
  for (const [label, isApproved, expected] of [
    ['pending polls', false, 'authorization_pending'],
    ['redemptions', true, 'access_token'],
  ]) {
    const rates = { product: [], comparison: [] };
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [name, side] of Object.entries({ comparison, product })) {
        const codes = await side.seed(isApproved);
        const began = performance.now();
        await inParallel(codes, (code) => side.poll(code, expected));
        // The first round is a warm-up.
        if (round > 0) rates[name].push(codes.length / ((performance.now() - began) / 1_000));
      }
      if (round > 0)
        console.error(
          `${label}: ${rates.product.at(-1).toFixed(0)}/s, comparison ${rates.comparison.at(-1).toFixed(0)}/s`,
        );
    }
    const [our, their] = [median(rates.product), median(rates.comparison)];
    rows.push([label, `${our.toFixed(0)} /s`, `${their.toFixed(0)} /s`, (our / their).toFixed(2)]);
  }
  reportTable('device-flow', {
    title: `Operation 2, ${CONNECTIONS} connections, compared with oidc-provider and a PostgreSQL adapter`,
    goal: 'ratio above 1',
    columns: ['median', 'product', 'comparison', 'ratio'],
    rows,
  });
  await Promise.all([productPool.close(), comparisonPool.close(), database.end()]);
} finally {
  await bench.close();
}

async function post(pool, path, fields, expected) {
  const { body } = await pool.request({
    path,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  });
  const text = await body.text();
  if (expected !== undefined && !text.includes(expected)) throw new Error(`${path} responded ${text}`);
  return JSON.parse(text);
}

/** Processes the items with one concurrent worker per connection. */
async function inParallel(items, work) {
  const results = Array.from({ length: items.length });
  let next = 0;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (next < items.length) {
        const index = next;
        next += 1;
        results[index] = await work(items[index]);
      }
    }),
  );
  return results;
}

function median(values) {
  return values.toSorted((left, right) => left - right)[values.length >> 1];
}
