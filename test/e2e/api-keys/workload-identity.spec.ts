import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { exportSPKI, type JWTPayload } from 'jose';
import { Clock, DAY, MINUTE, SECOND } from '../../../src/infrastructure/time/index.js';
import { ApiKeysService } from '../../../src/modules/api-keys/index.js';
import type { KeyTrust } from '../../../src/modules/api-keys/key-trust.js';
import { auditEntries } from '../../support/logs/audited.js';
import { moveClock } from '../../support/clock.js';
import { sendForm } from '../../support/logins/device-flow.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { basic, newKeys, startTestApp, useTestApp, type TestApp } from '../../support/test-app.js';
import { StubIssuer } from '../../support/logins/stub-issuer.js';
import { visitorWithRole } from '../../support/pages/visitor.js';

const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

let issuer: StubIssuer;
let names = 0;
/** Closed at the end: decorators of transactions use the process that started last. */
const others: TestApp[] = [];
afterAll(async () => {
  for (const other of others) await other.close();
});
const SETTINGS = { ...newKeys(), WEBHOOK_TARGETS: 'any', TRUSTED_PROXY_HOPS: '1' };
const service = useTestApp(SETTINGS);

beforeAll(async () => {
  issuer = await StubIssuer.start();
});
afterAll(() => issuer.close());

const SUBJECT = 'repo:example/shop:ref:refs/heads/main';
const ALL_SCOPES = [
  'webhook_endpoints:write',
  'webhook_endpoints:read',
  'request_logs:read',
  'merchants:read',
];

async function trust(more: Partial<KeyTrust> = {}, of: TestApp = service, ipRanges: string[] = []) {
  const { production } = await of.anotherOrganization();
  const key = {
    name: `CI ${(names += 1)}`,
    scopes: ALL_SCOPES,
    ipRanges,
    trust: { issuer: issuer.url, audience: null, subject: SUBJECT, claims: {}, ...more },
  };
  const { stored, token } = await of.app.get(ApiKeysService).create(production.clientId, key);
  rememberSecret(token);
  return { ...production, id: stored.id };
}

const now = (): number => Math.floor(service.app.get(Clock).milliseconds() / SECOND);
const claims = (more: JWTPayload = {}): JWTPayload => ({
  iss: issuer.url,
  aud: `${service.baseUrl}/oauth/token`,
  sub: SUBJECT,
  jti: randomUUID(),
  iat: now(),
  exp: now() + 300,
  repository: 'example/shop',
  ...more,
});

const exchange = async (
  { clientId }: { clientId: string },
  assertion: string,
  of: TestApp = service,
  more = {},
) => {
  const response = await sendForm(of, '/oauth/token', {
    grant_type: GRANT,
    client_id: clientId,
    assertion,
    ...more,
  });
  if (response.body['access_token']) rememberSecret(String(response.body['access_token']));
  return response;
};

const outcome = async (client: { clientId: string }, assertion: string, of?: TestApp): Promise<unknown> => {
  const { status, body } = await exchange(client, assertion, of);
  return status === 200 ? 'accepted' : body['error'];
};

const lastReason = async (clientId: string): Promise<unknown> =>
  (
    await service.database.query<{ error_message: string }>(
      'SELECT error_message FROM request_log WHERE client_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1',
      [clientId],
    )
  )[0]?.error_message;

describe('The token of a workload', () => {
  it('is exchanged for an access token, which manages ten endpoints and is accepted by the platform API', async () => {
    const client = await trust();
    const { status, body } = await exchange(client, await issuer.sign(claims()));
    expect([status, body]).toEqual([
      200,
      {
        token_type: 'Bearer',
        expires_in: 900,
        access_token: expect.stringMatching(/^eyJ/),
        scope: [...ALL_SCOPES].toSorted().join(' '),
      },
    ]);
    const token = String(body['access_token']);
    for (let index = 0; index < 10; index += 1) {
      const request = { environment: 'production', url: `https://hooks.example.com/ci/${index}` };
      const created = await service.request('/webhook-endpoints/create', { token, body: request });
      expect(created.status).toBe(200);
    }
    expect((await service.request('/merchants', { token })).status).toBe(200);
    expect((await service.request('/audit_logs', { token })).body['error_code']).toBe('INSUFFICIENT_SCOPE');
    const narrow = await exchange(client, await issuer.sign(claims()), service, {
      scope: 'request_logs:read',
    });
    expect(narrow.body['scope']).toBe('request_logs:read');
    await service.app.get(ApiKeysService).revoke(client.id);
    expect((await service.request('/merchants', { token })).status).toBe(401);
    expect(await outcome(client, await issuer.sign(claims()))).toBe('invalid_grant');
  });

  it.each<[string, Partial<KeyTrust>, JWTPayload, string | undefined]>([
    ['of another audience', {}, { aud: 'https://other.example.com' }, 'Audience is'],
    ['with an audience of the trust', { audience: 'mcs' }, { aud: 'mcs' }, undefined],
    ['with a list of one audience', { audience: 'mcs' }, { aud: ['mcs'] }, undefined],
    ['with a list of audiences', { audience: 'mcs' }, { aud: ['mcs', 'other'] }, 'Audience is mcs'],
    ['of another subject', {}, { sub: `${SUBJECT}2` }, 'Subject is'],
    ['with a subject that begins as the trust says', { subject: 'repo:example/shop:*' }, {}, undefined],
    [
      'with a subject that begins alike',
      { subject: 'repo:example/shop:*' },
      { sub: 'repo:example/shop-evil:ref:refs/heads/main' },
      'Subject begins with repo:example/shop:',
    ],
    [
      'with a subject of GitHub with IDs',
      { subject: 'repo:example@1234/shop@5678:*' },
      { sub: 'repo:example@1234/shop@5678:ref:refs/heads/main' },
      undefined,
    ],
    [
      'with a subject of GitHub with another ID: the name belongs to another repository by now',
      { subject: 'repo:example@1234/shop@5678:*' },
      { sub: 'repo:example@1234/shop@9:ref:refs/heads/main' },
      'Subject begins with repo:example@1234/shop@5678:',
    ],
    [
      'with no more than the beginning',
      { subject: 'repo:example/shop:*' },
      { sub: 'repo:example/shop:' },
      'Subject',
    ],
    ['with the claim of the trust', { claims: { repository: 'example/shop' } }, {}, undefined],
    ['with a claim that is a Boolean', { claims: { verified: 'true' } }, { verified: true }, undefined],
    ['with a claim that is a number', { claims: { project_id: '4711' } }, { project_id: 4711 }, undefined],
    [
      'with a claim that is a list',
      { claims: { groups: 'ci' } },
      { groups: ['ci'] },
      'Claim groups is ci. It is “["ci"]”.',
    ],
    [
      'with another claim',
      { claims: { repository: 'example/other' } },
      {},
      'Claim repository is example/other',
    ],
    [
      'without the claim',
      { claims: { environment: 'live' } },
      {},
      'Claim environment is live. It is missing.',
    ],
  ])('is checked: %s', async (_what, more, changed, reason) => {
    const client = await trust(more);
    const result = await outcome(client, await issuer.sign(claims(changed)));
    expect(result).toBe(reason === undefined ? 'accepted' : 'invalid_grant');
    if (reason !== undefined) {
      expect(await lastReason(client.clientId)).toContain(reason);
      expect(await lastReason(client.clientId)).toContain('The request came from 10.');
    }
  });

  it.each<[string, () => JWTPayload, boolean]>([
    ['expired 100 seconds ago', () => ({ exp: now() - 100, iat: now() - 300 }), true],
    ['expired 2 minutes ago', () => ({ exp: now() - 121, iat: now() - 300 }), false],
    ['issued in 115 seconds', () => ({ iat: now() + 115, exp: now() + 300 }), true],
    ['issued in more than 2 minutes', () => ({ iat: now() + 130, exp: now() + 300 }), false],
    ['valid in 115 seconds', () => ({ nbf: now() + 115 }), true],
    ['valid in more than 2 minutes', () => ({ nbf: now() + 130 }), false],
    ['valid for 24 hours', () => ({ exp: now() + DAY / SECOND, iat: now() }), true],
    ['valid for more than 24 hours', () => ({ exp: now() + DAY / SECOND + 2, iat: now() }), false],
    ['without exp', () => ({ exp: undefined as never }), false],
    ['without iat', () => ({ iat: undefined as never }), false],
  ])('is checked for its times: %s', async (_what, changed, isAccepted) => {
    const client = await trust();
    const token = await issuer.sign(claims(changed()));
    expect(await outcome(client, token)).toBe(isAccepted ? 'accepted' : 'invalid_grant');
  });

  it('is not used up by a request with a parameter that is not valid, or with a scope that the key lacks', async () => {
    const client = await trust();
    const token = await issuer.sign(claims());
    const scope = [
      ['grant_type', GRANT],
      ['client_id', client.clientId],
      ['assertion', token],
      ['scope', 'merchants:read'],
    ] as const;
    const repeated = await sendForm(service, '/oauth/token', [...scope, ['scope', 'request_logs:read']]);
    expect(repeated.status).toBe(400);
    for (const lacked of ['audit_logs:read', 'merchants:read audit_logs:read', 'unknown']) {
      const { status, body } = await exchange(client, token, service, { scope: lacked });
      expect([lacked, status, body['error']]).toEqual([lacked, 400, 'invalid_scope']);
    }
    expect((await exchange(client, token, service, { scope: 'merchants:read' })).status).toBe(200);
  });

  it('is accepted once if it has an ID, also by two processes at once', async () => {
    const other = await startTestApp({ ...SETTINGS, DATABASE_URL: service.database.url });
    others.push(other);
    await service.database.query('TRUNCATE request_log');
    const client = await trust({ audience: 'mcs' }, service);
    const token = await issuer.sign(claims({ aud: 'mcs' }));
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, index) => outcome(client, token, index % 2 === 0 ? service : other)),
    );
    expect(results.filter((each) => each === 'accepted')).toHaveLength(1);
    const reasons = await service.database.query('SELECT DISTINCT error_message FROM request_log');
    expect(JSON.stringify(reasons)).toContain('The token was used before.');
    const { jti: _jti, ...without } = claims({ aud: 'mcs' });
    const repeatable = await issuer.sign(without);
    for (const process of [service, other])
      expect(await outcome(client, repeatable, process)).toBe('accepted');
  });

  it.each<[string, () => Promise<string>]>([
    [
      'is not signed',
      async () => `${btoa('{"alg":"none"}')}.${btoa(JSON.stringify(claims()))}.`.replaceAll('=', ''),
    ],
    [
      'is signed with the public key as an HMAC secret',
      async () => {
        const pem = new TextEncoder().encode(await exportSPKI(issuer.publicKey));
        return issuer.sign(claims(), { alg: 'HS256' }, pem);
      },
    ],
    ['names a file as its key', () => issuer.sign(claims(), { kid: '../../etc/passwd' })],
    [
      'names a URL as its key',
      () => issuer.sign(claims(), { kid: `${issuer.url}/evil`, jku: `${issuer.url}/evil` }),
    ],
    [
      'has a changed payload',
      async () => {
        const [header, , signature] = (await issuer.sign(claims())).split('.');
        return `${header}.${Buffer.from(JSON.stringify(claims({ sub: 'x' }))).toString('base64url')}.${signature}`;
      },
    ],
    ['is of another issuer', () => issuer.sign(claims({ iss: 'https://other.example.com' }))],
    ['is not a JWT', async () => 'a.b.c'],
    ['is empty text', async () => '...'],
  ])('is refused if it %s', async (_what, forge) => {
    const client = await trust();
    const forged = await forge();
    expect(await outcome(client, forged)).toBe('invalid_grant');
    expect(issuer.requests).not.toContain('/evil');
  });

  it('that is no JWT has a reason that says so', async () => {
    const client = await trust();
    expect(await outcome(client, 'abc')).toBe('invalid_grant');
    expect(await lastReason(client.clientId)).toContain('The token is malformed');
  });

  it('gets no scope that the key lacks, and the error names it', async () => {
    const client = await trust();
    const scope = 'request_logs:read audit_logs:read <other>';
    const { status, body } = await exchange(client, await issuer.sign(claims()), service, { scope });
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({
        error: 'invalid_scope',
        error_description: 'The API key lacks the scope audit_logs:read.',
      }),
    ]);
  });

  it('is accepted only from the addresses of the key', async () => {
    const client = await trust({}, service, ['203.0.113.0/24']);
    expect(await outcome(client, await issuer.sign(claims()))).toBe('invalid_grant');
    expect(await lastReason(client.clientId)).toContain('not accepted from this address');
  });

  it('is not accepted by a client that does not trust it', async () => {
    await trust();
    const token = await issuer.sign(claims());
    const { production } = await service.anotherOrganization();
    expect(await outcome(production, token)).toBe('invalid_grant');
    expect(await lastReason(production.clientId)).toContain('No API key trusts the issuer of the token.');
  });
});

describe('The keys of an issuer', () => {
  it('are fetched at most once a minute, also for unknown keys, and kept for ten minutes', async () => {
    const own = await StubIssuer.start();
    const client = await trust({ issuer: own.url });
    const signed = () => own.sign(claims({ iss: own.url }));
    const clocks: Disposable[] = [];
    const after = (milliseconds: number): void => {
      clocks.push(moveClock(service, milliseconds));
      own.requests = [];
    };
    try {
      const results = await Promise.all([1, 2, 3].map(async () => outcome(client, await signed())));
      expect(results).toEqual(['accepted', 'accepted', 'accepted']);
      expect(own.requests).toEqual(['/.well-known/openid-configuration', '/jwks']);
      await own.rotate();
      expect(await outcome(client, await signed())).toBe('invalid_grant');
      expect(own.requests).toHaveLength(2);
      after(MINUTE + SECOND);
      expect(await outcome(client, await signed())).toBe('accepted');
      expect(own.requests).toHaveLength(2);
      own.responses.set('/jwks', { status: 500, body: '' });
      after(4 * MINUTE);
      expect(await outcome(client, await signed())).toBe('accepted');
      expect(own.requests).toEqual([]);
      after(5 * MINUTE);
      expect(await outcome(client, await signed())).toBe('accepted');
      expect(await outcome(client, await signed())).toBe('accepted');
      expect(own.requests).toHaveLength(2);
      after(2 * MINUTE);
      expect(await outcome(client, await signed())).toBe('invalid_grant');
      expect(await outcome(client, await signed())).toBe('invalid_grant');
      expect(own.requests).toHaveLength(2);
    } finally {
      for (const clock of clocks.toReversed()) clock[Symbol.dispose]();
      own.close();
    }
  });

  it.each<[string, string, { status?: number; headers?: Record<string, string>; body?: string }]>([
    ['5 MB long', '/jwks', { body: JSON.stringify({ keys: [], padding: 'x'.repeat(5_000_000) }) }],
    [
      'larger than 48 KiB',
      '/jwks',
      {
        body: JSON.stringify({
          keys: Array.from({ length: 20 }, () => ({ kty: 'RSA', e: 'AQAB', n: 'x'.repeat(2_500) })),
        }),
      },
    ],
    ['redirected', '/jwks', { status: 302, headers: { location: '/elsewhere' } }],
    ['no JSON', '/jwks', { body: '<html>' }],
    [
      'of another issuer',
      '/.well-known/openid-configuration',
      { body: '{"issuer":"https://other.example.com"}' },
    ],
    ['at a file', '/.well-known/openid-configuration', { body: 'null' }],
  ])('are refused if they are %s', async (_what, path, response) => {
    const own = await StubIssuer.start();
    own.responses.set(path, response);
    try {
      const client = await trust({ issuer: own.url });
      expect(await outcome(client, await own.sign(claims({ iss: own.url })))).toBe('invalid_grant');
      expect(own.requests).not.toContain('/elsewhere');
      expect(await lastReason(client.clientId)).toContain('The keys of the issuer cannot be read.');
    } finally {
      own.close();
    }
  });

  it('that does not respond are awaited once for all requests, and not again for a minute', async () => {
    const own = await StubIssuer.start();
    own.responses.set('/jwks', { isSilent: true });
    try {
      const client = await trust({ issuer: own.url });
      const send = async () => outcome(client, await own.sign(claims({ iss: own.url })));
      expect(await Promise.all([send(), send(), send()])).toEqual(Array(3).fill('invalid_grant'));
      expect(await send()).toBe('invalid_grant');
      expect(own.requests).toEqual(['/.well-known/openid-configuration', '/jwks']);
      expect(await lastReason(client.clientId)).toContain('The keys of the issuer cannot be read.');
    } finally {
      own.close();
    }
  }, 30_000);

  it.each<[string, object]>([
    [
      'has 1,024 bits',
      generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey.export({ format: 'jwk' }),
    ],
    ['is malformed', { kty: 'EC', crv: 'P-256', x: '!', y: '' }],
    ['is of an unknown type', { kty: 'XYZ' }],
  ])('are refused if the one of the token %s', async (_what, jwk) => {
    const own = await StubIssuer.start();
    const keys = ['RS256', 'ES256'].map((alg) => ({ ...jwk, kid: alg, alg }));
    own.responses.set('/jwks', { body: JSON.stringify({ keys }) });
    try {
      const client = await trust({ issuer: own.url });
      const token = await own.sign(claims({ iss: own.url }));
      const [, payload, signature] = token.split('.');
      for (const alg of ['RS256', 'ES256']) {
        const header = Buffer.from(JSON.stringify({ alg, kid: alg })).toString('base64url');
        const forged = `${header}.${payload}.${signature}`;
        expect(await outcome(client, forged)).toBe('invalid_grant');
      }
    } finally {
      own.close();
    }
  });

  it('are not fetched from private addresses', async () => {
    const { WEBHOOK_TARGETS: _any, ...settings } = SETTINGS;
    const guarded = await startTestApp({ ...settings, DATABASE_URL: service.database.url });
    others.push(guarded);
    const own = await StubIssuer.start();
    const client = await trust({ issuer: own.url }, guarded);
    expect(await outcome(client, await own.sign(claims({ iss: own.url })), guarded)).toBe('invalid_grant');
    expect(own.requests).toEqual([]);
    own.close();
  });
});

describe('The pages of workloads', () => {
  const PATH = '/dashboard/production/api-credentials/keys';

  it('create a trust from a preset, and say which rule a token breaks', async () => {
    const admin = await visitorWithRole(service, 'admin');
    const form = await admin.get(`${PATH}/workload?preset=github`);
    for (const part of [
      'https://token.actions.githubusercontent.com',
      'repo:&lt;owner>@&lt;owner ID>/&lt;repository>@&lt;repository ID>:ref:refs/heads/main',
      'since July 15, 2026',
    ])
      expect(form.text).toContain(part);
    expect((await admin.get(`${PATH}/workload?preset=gitlab`)).text).not.toContain('July 15');
    const fields = { name: 'Deployment', 'scopes[]': 'webhook_endpoints:write', issuer: issuer.url };
    const evil = await admin.submit(`${PATH}/workload`, { ...fields, subject: 'repo:example/shop*' });
    expect([evil.status, evil.text]).toEqual([400, expect.stringContaining('must end with “:” or “/”')]);
    const unfilled = await admin.submit(`${PATH}/workload`, {
      ...fields,
      subject: 'repo:example@1/shop@<repository ID>:ref:refs/heads/main',
    });
    expect([unfilled.status, unfilled.text]).toEqual([
      400,
      expect.stringMatching(/id="subject-error"[^>]*>Replace &lt;repository ID> with your own value\./),
    ]);
    const wrong = await admin.submit(`${PATH}/workload`, {
      ...fields,
      subject: 'repo:example/shop:*',
      claims: 'environment production',
    });
    expect(wrong.text).toContain('“environment production” must be the name of a claim');
    const created = await admin.submit(`${PATH}/workload`, {
      ...fields,
      subject: 'repo:example/shop:*',
      claims: 'repository=example/shop\r\n workflow=Deploy, and test \r\n',
    });
    expect(created.status).toBe(303);
    const page = created.location?.replace(/\?.*/, '') ?? '';
    const shown = await admin.get(page);
    expect(shown.text).toContain('workflow=Deploy, and test');
    for (const part of [
      'repo:example/shop:*',
      `${service.baseUrl}/oauth/token`,
      `-d client_id=${service.production.clientId}`,
    ])
      expect(shown.text).toContain(part);
    expect(shown.text).not.toContain(`${page}/rotate`);
    const workflow = { workflow: 'Deploy, and test' };
    const good = await admin.fill(`${page}/try`, { token: await issuer.sign(claims(workflow)) });
    expect(good.text).toContain('The token is accepted');
    expect(good.text).toContain(`href="${page}/try"`);
    const other = { ...workflow, repository: 'x' };
    const bad = await admin.submit(`${page}/try`, { token: await issuer.sign(claims(other)) });
    expect(bad.text).toContain('The token is not accepted');
    expect(bad.text).toContain('It is “x”.');
    const forged = await admin.submit(`${page}/try`, { token: 'a.b.c' });
    expect(forged.text).toContain('malformed');
  });

  it('link to the entries of refused keys and tokens', async () => {
    const admin = await visitorWithRole(service, 'admin');
    const { clientId } = service.production;
    await outcome({ clientId }, 'abc');
    const wrong = basic({ clientId, secret: 'wrong' });
    await service.request('/merchants', { headers: { authorization: wrong } });
    const list = await admin.get(PATH);
    const links = [...list.text.matchAll(/href="([^"]*\/request-logs\?[^"]*)"/g)].map(([, link = '']) =>
      link.replaceAll('&amp;', '&'),
    );
    const pages = await Promise.all(links.map(async (link) => (await admin.get(link)).text));
    expect(
      pages.map((text) =>
        ['GET /merchants', 'POST /oauth/token'].filter((each) => text.includes(`>${each}</a>`)),
      ),
    ).toEqual([['GET /merchants'], ['POST /oauth/token']]);
  });

  it('change a trust, which holds at once and is in the audit log', async () => {
    const admin = await visitorWithRole(service, 'admin');
    const fields = {
      name: 'Release',
      'scopes[]': 'webhook_endpoints:write',
      issuer: issuer.url,
      subject: 'repo:example/release:*',
      claims: 'repository=example/shop',
    };
    await admin.get(`${PATH}/workload`);
    const created = await admin.submit(`${PATH}/workload`, fields);
    const page = created.location?.replace(/\?.*/, '') ?? '';
    const { clientId } = service.production;
    const release = () => issuer.sign(claims({ sub: 'repo:example/release:ref:refs/heads/main' }));
    expect(await outcome({ clientId }, await release())).toBe('accepted');
    const form = await admin.get(`${page}/workload`);
    for (const value of ['repo:example/release:*', 'repository=example/shop', 'Release'])
      expect(form.text).toContain(value);
    const wrong = await admin.submit(`${page}/workload`, { ...fields, subject: 'repo:example/release*' });
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('must end with “:” or “/”')]);
    const changed = { ...fields, subject: 'repo:example/other:*', audience: 'mcs', claims: '' };
    expect((await admin.fill(`${page}/workload`, changed)).status).toBe(303);
    expect((await admin.get(page)).text).toContain('repo:example/other:*');
    expect(await outcome({ clientId }, await release())).toBe('invalid_grant');
    const other = claims({ sub: 'repo:example/other:ref:refs/heads/main', aud: 'mcs' });
    expect(await outcome({ clientId }, await issuer.sign(other))).toBe('accepted');
    const [entry] = await auditEntries(service);
    expect(entry).toMatchObject({ event: { action: 'key.update' }, target: { name: 'Release' } });
    const text = JSON.stringify(entry);
    for (const value of ['repo:example/other:*', 'mcs', 'repository=example/shop'])
      expect(text).toContain(value);
    const { stored } = await service.app
      .get(ApiKeysService)
      .create(clientId, { name: 'Without a trust', scopes: ['merchants:read'] });
    expect((await admin.get(`${PATH}/${stored.id}/workload`)).status).toBe(404);
  });
});
