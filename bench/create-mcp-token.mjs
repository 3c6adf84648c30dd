/**
 * Measures operation 1 with all features enabled, compared with plain Express and one INSERT, and with the same operation as an
 * ordinary NestJS program; and with an API key, compared with the client's secret.
 */
import { execFileSync } from 'node:child_process';
import { alternate } from './support/load.mjs';
import { report } from './support/report.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const ROUNDS = Number(process.env.ROUNDS ?? 12);
const SECONDS = Number(process.env.SECONDS ?? 5);
const body = JSON.stringify({ external_user_id: 'user-8f3a', expires_in: 3600 });

const bench = await openWorkbench();
try {
  const service = await bench.service({ MCP_TOKEN_REQUESTS_PER_MINUTE: '100000000' });
  const product = {
    url: `${service.baseUrl}/mcp/tokens/create`,
    headers: { authorization: basic(service.credentials.development), 'content-type': 'application/json' },
    body,
  };
  const compare = async (name, { title, goal, comparison, sent = product }) => {
    const result = await alternate({ rounds: ROUNDS, seconds: SECONDS, product: sent, comparison });
    report(name, { title: `Operation 1, 32 connections, ${title}`, goal, ...result });
  };

  const bare = await bench.program('express-insert.mjs', { DATABASE_URL: await bench.database('bare') });
  await compare('create-mcp-token', {
    title: 'compared with plain Express and one INSERT',
    goal: 'rate ratio at least 0.8, p99 ratio below 2',
    comparison: { ...product, url: `${bare.baseUrl}/` },
  });
  await bare.stop();

  const key = createKey(service);
  await compare('create-mcp-token-with-key', {
    title: 'with an API key, compared with the secret of the client',
    goal: 'rate ratio at least 0.98',
    sent: {
      ...product,
      headers: {
        ...product.headers,
        authorization: basic({ ...service.credentials.development, secret: key }),
      },
    },
    comparison: product,
  });

  const { client_id: CLIENT_ID, secret: CLIENT_SECRET } = service.credentials.development;
  const DATABASE_URL = await bench.database('ordinary');
  const ordinary = await bench.program('ordinary-nestjs.mjs', { DATABASE_URL, CLIENT_ID, CLIENT_SECRET });
  await compare('create-mcp-token-ordinary', {
    title: 'compared with an ordinary NestJS program',
    goal: 'rate ratio at least 1.5',
    comparison: { ...product, url: `${ordinary.baseUrl}/mcp/tokens/create` },
  });
} finally {
  await bench.close();
}

/** Creates a key that may only create MCP tokens, as an operator does. */
function createKey({ credentials, settings }) {
  const output = execFileSync(
    process.execPath,
    [
      'bin/mcs-admin.js',
      'api-key',
      'create',
      '--client',
      credentials.development.client_id,
      '--name',
      'bench',
      '--scope',
      'mcp_tokens:write',
    ],
    { encoding: 'utf8', env: { ...process.env, ...settings } },
  );
  return JSON.parse(output).key;
}
