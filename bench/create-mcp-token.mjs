/** Measures operation 1 with all features enabled, compared with plain Express and one INSERT. */
import { alternate } from './support/load.mjs';
import { report } from './support/report.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const ROUNDS = Number(process.env.ROUNDS ?? 12);
const SECONDS = Number(process.env.SECONDS ?? 5);
const body = JSON.stringify({ external_user_id: 'user-8f3a', expires_in: 3600 });

const bench = await openWorkbench();
try {
  const service = await bench.service({ MCP_TOKEN_REQUESTS_PER_MINUTE: '100000000' });
  const bare = await bench.program('express-insert.mjs', { DATABASE_URL: await bench.database('bare') });
  const result = await alternate({
    rounds: ROUNDS,
    seconds: SECONDS,
    product: {
      url: `${service.baseUrl}/mcp/tokens/create`,
      headers: {
        authorization: basic(service.credentials.development),
        'content-type': 'application/json',
      },
      body,
    },
    comparison: { url: `${bare.baseUrl}/`, headers: { 'content-type': 'application/json' }, body },
  });
  report('create-mcp-token', {
    title: 'Operation 1, 32 connections, compared with plain Express and one INSERT',
    goal: 'rate ratio at least 0.8, p99 ratio below 2',
    ...result,
  });
} finally {
  await bench.close();
}
