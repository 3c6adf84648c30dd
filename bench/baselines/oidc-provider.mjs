/**
 * Baseline for operation 2 and for agents that log in: `oidc-provider` with models in PostgreSQL. Access tokens of the device flow
 * are JWTs; those of agents are opaque. `POST /seed` creates codes as if a client had requested and a user had approved them.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
await pool.query(
  `CREATE TABLE IF NOT EXISTS model (name text, id text, payload jsonb NOT NULL, grant_id text, user_code text, uid text,
                                     expires_at timestamptz, consumed_at timestamptz, PRIMARY KEY (name, id));
   CREATE INDEX IF NOT EXISTS model_grant ON model (grant_id);
   CREATE INDEX IF NOT EXISTS model_user_code ON model (user_code)`,
);

/** Implements the adapter interface that the documentation of `oidc-provider` describes. */
class PostgresAdapter {
  constructor(name) {
    this.name = name;
  }
  async upsert(id, payload, expiresIn) {
    const expiresAt = expiresIn ? new Date(Date.now() + expiresIn * 1_000) : null;
    await pool.query(
      `INSERT INTO model (name, id, payload, grant_id, user_code, uid, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (name, id) DO UPDATE SET payload = $3, grant_id = $4, user_code = $5, uid = $6, expires_at = $7`,
      [
        this.name,
        id,
        payload,
        payload.grantId ?? null,
        payload.userCode ?? null,
        payload.uid ?? null,
        expiresAt,
      ],
    );
  }
  async one(column, value) {
    const { rows } = await pool.query(
      `SELECT payload, expires_at, consumed_at FROM model WHERE name = $1 AND ${column} = $2`,
      [this.name, value],
    );
    const [row] = rows;
    if (!row || (row.expires_at && row.expires_at < new Date())) return undefined;
    return { ...row.payload, ...(row.consumed_at ? { consumed: true } : {}) };
  }
  find(id) {
    return this.one('id', id);
  }
  findByUserCode(userCode) {
    return this.one('user_code', userCode);
  }
  findByUid(uid) {
    return this.one('uid', uid);
  }
  async consume(id) {
    await pool.query('UPDATE model SET consumed_at = now() WHERE name = $1 AND id = $2', [this.name, id]);
  }
  async destroy(id) {
    await pool.query('DELETE FROM model WHERE name = $1 AND id = $2', [this.name, id]);
  }
  async revokeByGrantId(grantId) {
    await pool.query('DELETE FROM model WHERE grant_id = $1', [grantId]);
  }
}

const RESOURCE = 'https://dashboard.example.com/';
const CONNECTOR = 'https://agents.example.com/mcp';
const REDIRECT_URI = 'https://agent.example.com/callback';
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const provider = new Provider(`http://127.0.0.1:${process.env.PORT}`, {
  adapter: PostgresAdapter,
  clients: [
    {
      client_id: 'device',
      token_endpoint_auth_method: 'none',
      grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
      response_types: [],
      redirect_uris: [],
      application_type: 'native',
      id_token_signed_response_alg: 'ES256',
    },
    {
      client_id: 'agent',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      redirect_uris: [REDIRECT_URI],
      id_token_signed_response_alg: 'ES256',
    },
  ],
  scopes: ['read', 'offline_access'],
  issueRefreshToken: (_context, client) => client.clientId === 'agent',
  rotateRefreshToken: true,
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig', kid: 'one' }] },
  cookies: { keys: [randomBytes(32).toString('hex')] },
  findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  features: {
    deviceFlow: { enabled: true },
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => RESOURCE,
      useGrantedResource: () => true,
      getResourceServerInfo: (_context, resource) => ({
        scope: 'read',
        audience: resource,
        ...(resource === RESOURCE
          ? { accessTokenFormat: 'jwt', accessTokenTTL: 900, jwt: { sign: { alg: 'ES256' } } }
          : { accessTokenFormat: 'opaque', accessTokenTTL: 3_600 }),
      }),
    },
  },
});

/** @returns device codes, approved ones if `isApproved` */
async function seed(count, isApproved) {
  const client = await provider.Client.find('device');
  const codes = [];
  for (let index = 0; index < count; index += 1) {
    const code = new provider.DeviceCode({
      client,
      params: { client_id: 'device', scope: 'read', resource: RESOURCE },
      userCode: randomBytes(8).toString('hex'),
      deviceInfo: {},
    });
    if (isApproved) {
      const grant = new provider.Grant({ accountId: 'user-1', clientId: 'device' });
      grant.addResourceScope(RESOURCE, 'read');
      Object.assign(code, {
        accountId: 'user-1',
        grantId: await grant.save(),
        scope: 'read',
        resource: RESOURCE,
        authTime: Math.floor(Date.now() / 1_000),
        sessionUid: 'session',
        expiresWithSession: false,
      });
    }
    codes.push(await code.save());
  }
  return codes;
}

/** @returns authorization codes that a user has approved, for the given code challenge */
async function seedForAgent(count, codeChallenge) {
  const client = await provider.Client.find('agent');
  const codes = [];
  for (let index = 0; index < count; index += 1) {
    const accountId = `user-${index}`;
    const grant = new provider.Grant({ accountId, clientId: 'agent' });
    grant.addResourceScope(CONNECTOR, 'read');
    const code = new provider.AuthorizationCode({
      client,
      accountId,
      grantId: await grant.save(),
      scope: 'read',
      resource: CONNECTOR,
      redirectUri: REDIRECT_URI,
      codeChallenge,
      codeChallengeMethod: 'S256',
      authTime: Math.floor(Date.now() / 1_000),
      sessionUid: 'session',
      expiresWithSession: false,
    });
    codes.push(await code.save());
  }
  return codes;
}

const handle = provider.callback();
createServer((request, response) => {
  const url = new URL(request.url, 'http://localhost');
  if (url.pathname !== '/seed') return handle(request, response);
  const count = Number(url.searchParams.get('count'));
  const challenge = url.searchParams.get('challenge');
  (challenge ? seedForAgent(count, challenge) : seed(count, url.searchParams.has('approved'))).then(
    (codes) => response.end(JSON.stringify(codes)),
    (error) => response.writeHead(500).end(error.stack),
  );
}).listen(Number(process.env.PORT), '127.0.0.1', () => console.log('ready'));
process.on('SIGTERM', () => process.exit(0));
