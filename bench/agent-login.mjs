/**
 * Measures agents that log in: redemptions and refreshes compared with `oidc-provider` on PostgreSQL, `tools/call` with a token of
 * a login compared with a token of operation 1, and lists and disconnections among a million connections.
 */
import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { Pool } from 'undici';
import { alternate, inParallel, percentile, postForm } from './support/load.mjs';
import { reportTable } from './support/report.mjs';
import { basic, openWorkbench } from './support/workbench.mjs';

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const SECONDS = Number(process.env.SECONDS ?? 3);
/** Codes per round. The tokens that they are exchanged for are refreshed once. */
const CODES = Number(process.env.CODES ?? 2_000);
const AGENT_CONNECTIONS = Number(process.env.AGENT_CONNECTIONS ?? 1_000_000);
const CONNECTIONS = 16;
/** Lists and disconnections of each kind. */
const SAMPLES = 200;
const UNLIMITED = '100000000';
const REDIRECT_URI = 'https://agent.example.com/callback';
const VERIFIER = randomBytes(32).toString('base64url');
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

const bench = await openWorkbench();
try {
  const service = await bench.service({
    OAUTH_REQUESTS_PER_MINUTE: UNLIMITED,
    MCP_TOOL_CALLS_PER_MINUTE: UNLIMITED,
    BACKGROUND_WORK: 'off',
  });
  const database = new pg.Pool({ connectionString: service.databaseUrl, max: 1 });
  // Closing the workbench ends its connection, also after an error.
  database.on('error', () => undefined);
  const credentials = service.credentials.development;
  const clientId = credentials.client_id;
  const registered = await fetch(`${service.baseUrl}/connections/${clientId}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Agent', redirect_uris: [REDIRECT_URI] }),
  });
  const { client_id: agentId } = await registered.json();

  const accessToken = await compareTokens();
  await compareToolCalls(accessToken);
  await measureConnections();
  await database.end();

  /** @returns an access token of the service */
  async function compareTokens() {
    const other = await bench.program('oidc-provider.mjs', { DATABASE_URL: await bench.database('oidc') });
    const sides = {
      comparison: {
        pool: new Pool(other.baseUrl, { connections: CONNECTIONS }),
        path: '/token',
        agent: 'agent',
        async codes() {
          const path = `/seed?count=${CODES}&challenge=${CHALLENGE}`;
          const { body } = await this.pool.request({ path, method: 'POST' });
          return body.json();
        },
      },
      product: {
        pool: new Pool(service.baseUrl, { connections: CONNECTIONS }),
        path: `/connections/${clientId}/token`,
        agent: agentId,
        codes: approvedCodes,
      },
    };
    const rates = {
      redemptions: { comparison: [], product: [] },
      refreshes: { comparison: [], product: [] },
    };
    let token;
    // The first round is a warm-up.
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [name, side] of Object.entries(sides)) {
        const common = { client_id: side.agent };
        const redeem = (code) =>
          post(side, {
            ...common,
            grant_type: 'authorization_code',
            code,
            redirect_uri: REDIRECT_URI,
            code_verifier: VERIFIER,
          });
        const refresh = ({ refresh_token }) =>
          post(side, { ...common, grant_type: 'refresh_token', refresh_token });
        const redeemed = await timed(await side.codes(), redeem);
        const refreshed = await timed(redeemed.results, refresh);
        if (name === 'product') token = refreshed.results[0].access_token;
        if (round === 0) continue;
        rates.redemptions[name].push(redeemed.rate);
        rates.refreshes[name].push(refreshed.rate);
      }
      console.error(
        `round ${round}: ${JSON.stringify(rates, (_key, value) => (typeof value === 'number' ? Math.round(value) : value))}`,
      );
    }
    await Promise.all(Object.values(sides).map(({ pool }) => pool.close()));
    reportTable('agent-login-tokens', {
      title: `Tokens of agents, ${CONNECTIONS} connections, compared with oidc-provider and a PostgreSQL adapter`,
      goal: 'ratio at least 1.2',
      columns: ['median', 'product', 'comparison', 'ratio'],
      rows: Object.entries(rates).map(([label, { product, comparison }]) => {
        const [our, their] = [percentile(product, 0.5), percentile(comparison, 0.5)];
        return [label, `${our.toFixed(0)} /s`, `${their.toFixed(0)} /s`, (our / their).toFixed(2)];
      }),
    });
    return token;
  }

  /** Stores authorizations that users have approved. */
  async function approvedCodes() {
    const codes = Array.from({ length: CODES }, () => randomBytes(32).toString('base64url'));
    await database.query(
      `INSERT INTO agent_authorization (id, client_id, agent_id, agent_name, agent_kind, redirect_uri, code_challenge, scopes,
                                        browser_hash, status, external_user_id, code_hash, code_expires_at, created_at, expires_at)
       SELECT gen_random_uuid(), $1, $2, 'Agent', 'dynamic', $3, $4, '{accounts:read,sign_in_links:write}', '\\x00', 'approved',
              'user-' || place, sha256(code::bytea), now() + interval '1 minute', now(), now() + interval '10 minutes'
         FROM unnest($5::text[]) WITH ORDINALITY AS given (code, place)`,
      [clientId, agentId, REDIRECT_URI, CHALLENGE, codes],
    );
    return codes;
  }

  async function compareToolCalls(agentToken) {
    const created = await fetch(`${service.baseUrl}/mcp/tokens/create`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: basic(credentials) },
      body: JSON.stringify({ external_user_id: 'user-1', phone_number: '+14155550123' }),
    });
    const { token } = await created.json();
    const side = (bearer, path) => ({
      url: `${service.baseUrl}${path}`,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
        authorization: `Bearer ${bearer}`,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'search_detected_accounts', arguments: { names: ['Netflix', 'Spotify'] } },
      }),
    });
    const { product, comparison, runs } = await alternate({
      rounds: ROUNDS,
      seconds: SECONDS,
      product: side(agentToken, `/mcp/${clientId}`),
      comparison: side(token, '/mcp'),
    });
    // The ratio is computed for each round, so that a slower machine affects both sides.
    const ratios = runs.product.map(({ rate }, round) => rate / runs.comparison[round].rate);
    reportTable('agent-login-tool-calls', {
      title: 'tools/call with a token of a login, compared with a token of operation 1',
      goal: 'ratio at least 1',
      columns: ['median', 'token of a login', 'token of operation 1', 'ratio'],
      rows: [
        [
          'rate',
          `${product.rate.toFixed(0)} /s`,
          `${comparison.rate.toFixed(0)} /s`,
          percentile(ratios, 0.5).toFixed(2),
        ],
        ['p99', `${product.p99} ms`, `${comparison.p99} ms`, (product.p99 / comparison.p99).toFixed(2)],
      ],
    });
  }

  async function measureConnections() {
    await database.query(
      `INSERT INTO agent_connection (id, client_id, external_user_id, agent_id, agent_name, agent_host, scopes, created_at, used_at,
                                     expires_at)
       SELECT gen_random_uuid(), $1, 'user-' || number % ($2 / 4), $3, 'Agent',
              CASE WHEN number % ($2 / 10) = 0 THEN 'rare.example.com' ELSE 'agent.example.com' END, '{accounts:read}',
              now() - number * interval '1 second', now(), now() + interval '60 days'
         FROM generate_series(1, $2::int) number`,
      [clientId, AGENT_CONNECTIONS, agentId],
    );
    await database.query('VACUUM ANALYZE agent_connection');
    const pool = new Pool(service.baseUrl, { connections: 1 });
    const headers = { authorization: basic(credentials) };
    const call = async (method, path) => {
      const { statusCode, body } = await pool.request({ method, path, headers });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`${method} ${path} responded ${statusCode}: ${text}`);
      return JSON.parse(text);
    };
    const ids = (
      await database.query('SELECT id FROM agent_connection TABLESAMPLE SYSTEM (1) LIMIT $1', [SAMPLES])
    ).rows;
    let { next_cursor: cursor } = await call('GET', '/agent-connections?limit=50');
    const kinds = {
      'list, first page': () => call('GET', '/agent-connections?limit=50'),
      'list, next pages': async () =>
        ({ next_cursor: cursor } = await call(
          'GET',
          `/agent-connections?limit=50&cursor=${encodeURIComponent(cursor)}`,
        )),
      'list of a user': (index) => call('GET', `/agent-connections?external_user_id=user-${index}`),
      'list of a host with ten connections': () => call('GET', '/agent-connections?host=rare.example.com'),
      disconnect: (index) => call('DELETE', `/agent-connections/${ids[index].id}`),
    };
    const rows = [];
    for (const [label, run] of Object.entries(kinds)) {
      const times = [];
      for (let index = 0; index < SAMPLES; index += 1) {
        const began = performance.now();
        await run(index);
        times.push(performance.now() - began);
      }
      rows.push([label, ...[0.5, 0.95, 0.99].map((share) => `${percentile(times, share).toFixed(1)} ms`)]);
    }
    await pool.close();
    reportTable('agent-login-connections', {
      title: `${AGENT_CONNECTIONS.toLocaleString('en')} connections of agents, ${SAMPLES} requests each`,
      goal: 'below 20 ms',
      columns: ['', 'p50', 'p95', 'p99'],
      rows,
    });
  }
} finally {
  await bench.close();
}

/** Processes the items with one worker for each connection. @returns the results, and items per second */
async function timed(items, work) {
  const began = performance.now();
  const results = await inParallel(items, CONNECTIONS, work);
  return { results, rate: items.length / ((performance.now() - began) / 1_000) };
}

function post({ pool, path }, fields) {
  return postForm(pool, path, fields, 'refresh_token');
}
