/** Measures operation 2: pending polls and redemptions, compared with `oidc-provider` on PostgreSQL. */
import pg from 'pg';
import { Pool } from 'undici';
import { inParallel, percentile, postForm } from './support/load.mjs';
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
      const codes = await inParallel(Array.from({ length: CODES }), CONNECTIONS, async () => {
        const body = await postForm(productPool, '/oauth/device/code', { client_id: clientId });
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
      postForm(
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
      postForm(
        comparisonPool,
        '/token',
        { grant_type: GRANT, client_id: 'device', device_code: code },
        expected,
      ),
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
        await inParallel(codes, CONNECTIONS, (code) => side.poll(code, expected));
        // The first round is a warm-up.
        if (round > 0) rates[name].push(codes.length / ((performance.now() - began) / 1_000));
      }
      if (round > 0)
        console.error(
          `${label}: ${rates.product.at(-1).toFixed(0)}/s, comparison ${rates.comparison.at(-1).toFixed(0)}/s`,
        );
    }
    const [our, their] = [percentile(rates.product, 0.5), percentile(rates.comparison, 0.5)];
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
