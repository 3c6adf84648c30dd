import { randomBytes } from 'node:crypto';
import { decodeJwt } from 'jose';
import { MINUTE, SECOND } from '../../../src/infrastructure/time/index.js';
import { DEVICE_SCOPES } from '../../../src/infrastructure/auth/index.js';
import { sha256 } from '../../../src/infrastructure/crypto/index.js';
import { ServiceConfiguration } from '../../../src/infrastructure/config/index.js';
import { OAuthConfiguration } from '../../../src/modules/oauth/oauth.configuration.js';
import { ExpiryJob } from '../../../src/infrastructure/database/index.js';
import { moveClock, stopClock } from '../../support/clock.js';
import {
  accessToken,
  Browser,
  decide,
  freshAddress,
  GRANT,
  poll,
  sendForm,
  startFlow,
  type Fields,
  type StartedFlow,
} from '../../support/logins/device-flow.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { useTestApp, type TestResponse, useLogin } from '../../support/test-app.js';
const DASHBOARD_URL = 'https://dashboard.example.com';
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

const service = useTestApp({
  DASHBOARD_URL,
  TRUSTED_PROXY_HOPS: '1',
  DEVICE_CODES_PER_MINUTE: '5',
  OAUTH_REQUESTS_PER_MINUTE: '20',
});
const user = useLogin(service, 'member');

/** Checks what every error response of an OAuth endpoint has in common. */
function expectOAuthError(
  { status, headers, body }: TestResponse,
  expected: { status?: number; error: string; type: string; code: string },
): void {
  expect([status, body['error'], body['error_type'], body['error_code']]).toEqual([
    expected.status ?? 400,
    expected.error,
    expected.type,
    expected.code,
  ]);
  expect(body['error_description']).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
  expect(typeof body['error_message']).toBe('string');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.has('etag')).toBe(false);
  expect(headers.get('x-request-id')).toMatch(/^[\w-]+$/);
}

const PENDING = { error: 'authorization_pending', type: 'USER_ERROR', code: 'ONGOING_OPERATION' };
const SLOW_DOWN = { error: 'slow_down', type: 'INVALID_REQUEST', code: 'RATE_LIMIT_EXCEEDED' };
const DENIED = { error: 'access_denied', type: 'USER_ERROR', code: 'NO_ACCESS' };
const EXPIRED = { error: 'expired_token', type: 'INVALID_REQUEST', code: 'INVALID_FIELD' };
const INVALID_GRANT = { error: 'invalid_grant', type: 'INVALID_REQUEST', code: 'INVALID_FIELD' };
const INVALID_REQUEST = { error: 'invalid_request', type: 'INVALID_REQUEST', code: 'INVALID_FIELD' };
const UNSUPPORTED = { error: 'unsupported_grant_type', type: 'INVALID_REQUEST', code: 'INVALID_FIELD' };
const INVALID_CLIENT = {
  status: 401,
  error: 'invalid_client',
  type: 'INVALID_INPUT',
  code: 'INVALID_API_KEYS',
};
const TOO_MANY = { status: 429, error: 'slow_down', type: 'RATE_LIMIT_ERROR', code: 'RATE_LIMIT_EXCEEDED' };

interface ServedDocument {
  readonly paths: Record<string, { post: { responses: Record<string, object> } }>;
  readonly components: {
    readonly responses: Record<
      string,
      { description: string; content: { 'application/json': { example: object } } }
    >;
  };
}
const documentedOf = (document: unknown): ServedDocument => document as ServedDocument;

describe('POST /oauth/device/code', () => {
  it('returns both codes and stores neither in plain text', async () => {
    const { status, headers, body } = await sendForm<StartedFlow>(service, '/oauth/device/code', {
      client_id: service.development.clientId,
    });
    rememberSecret(body.device_code, body.user_code);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toEqual({
      device_code: expect.stringMatching(/^[\w-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: `${DASHBOARD_URL}/device`,
      expires_in: 600,
      interval: 5,
    });
    const rows = await service.database.query<Record<string, unknown>>(
      `SELECT *, device_code_hash::text || user_code_digest::text || user_code_sealed::text AS bytes
         FROM device_authorization`,
    );
    expect(rows).toHaveLength(1);
    const stored = JSON.stringify(rows);
    for (const code of [body.device_code, body.user_code, body.user_code.replace('-', '')]) {
      expect(stored).not.toContain(code);
      expect(stored).not.toContain(Buffer.from(code).toString('hex'));
    }
    expect(rows[0]).toMatchObject({
      status: 'pending',
      environment: 'development',
      scopes: ['request_logs:read', 'webhook_endpoints:read', 'webhook_endpoints:write'],
    });
  });

  it.each([
    ['webhook_endpoints:read', ['webhook_endpoints:read']],
    ['webhook_endpoints:write  request_logs:read', ['request_logs:read', 'webhook_endpoints:write']],
    ['request_logs:read request_logs:read', ['request_logs:read']],
    ['request_logs:read,webhook_endpoints:read', ['request_logs:read', 'webhook_endpoints:read']],
    ['', ['request_logs:read', 'webhook_endpoints:read', 'webhook_endpoints:write']],
  ])('grants the scopes of the request: "%s"', async (scope, scopes) => {
    const { device_code } = await startFlow(service, service.production, scope);
    const rows = await service.database.query(
      'SELECT scopes, environment FROM device_authorization WHERE device_code_hash = sha256($1)',
      [Buffer.from(device_code)],
    );
    expect(rows).toEqual([{ scopes, environment: 'production' }]);
  });

  it.each([
    ['request_logs:read admin offline_access', ['request_logs:read']],
    ['openid', DEVICE_SCOPES],
    ['REQUEST_LOGS:READ', DEVICE_SCOPES],
    ['request_logs:read;webhook_endpoints:read', DEVICE_SCOPES],
    ['"', DEVICE_SCOPES],
  ])('ignores unknown scopes: "%s"', async (scope, granted) => {
    const { device_code } = await startFlow(service, service.development, scope);
    const [row] = await service.database.query<{ scopes: string[] }>(
      'SELECT scopes FROM device_authorization WHERE device_code_hash = $1',
      [sha256(device_code)],
    );
    expect(row?.scopes).toEqual(granted);
  });

  it('returns verification_uri_complete only when it is configured', async () => {
    const configuration = service.app.get(OAuthConfiguration);
    configuration.verificationUriComplete = true;
    const flow = await startFlow(service);
    configuration.verificationUriComplete = false;
    expect(flow).toMatchObject({
      verification_uri_complete: `${DASHBOARD_URL}/device?user_code=${flow.user_code}`,
    });
  });

  it('rejects unknown clients and malformed requests', async () => {
    const id = service.development.clientId;
    const send = (fields: Fields, headers = {}) =>
      sendForm(service, '/oauth/device/code', fields, { headers });
    for (const client_id of [UNKNOWN_ID, 'me', `${id} `, `{${id}}`]) {
      const response = await send({ client_id });
      expectOAuthError(response, INVALID_CLIENT);
      expect(response.headers.has('www-authenticate')).toBe(false);
    }
    expectOAuthError(await send({}), INVALID_REQUEST);
    expectOAuthError(await send({ client_id: '' }), INVALID_REQUEST);
    expectOAuthError(await send([['client_id', id], ['client_id', UNKNOWN_ID]]), INVALID_REQUEST); // prettier-ignore
    const repeated: Fields = [['client_id', id], ['client_id', id], ['x', '1'], ['x', '2'], ['scope', '']]; // prettier-ignore
    expect((await send(repeated)).status).toBe(200);
    expectOAuthError(await send({ client_id: id }, { authorization: 'Basic eDp5' }), INVALID_REQUEST);
    expectOAuthError(await send({ client_id: id }, { 'content-type': 'application/json' }), INVALID_REQUEST);
  });

  it('is limited per IP address', async () => {
    const headers = { 'x-forwarded-for': freshAddress() };
    const fields = { client_id: service.development.clientId };
    const responses: TestResponse[] = [];
    for (let index = 0; index < 6; index += 1) {
      responses.push(await sendForm(service, '/oauth/device/code', fields, { headers }));
    }
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    const last = responses.at(-1) as TestResponse;
    expectOAuthError(last, TOO_MANY);
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(last.body['retry_after']).toBe(Number(last.headers.get('retry-after')));
    for (const { body } of responses) if (body['device_code']) rememberSecret(String(body['device_code']));
  });
});

describe('POST /oauth/token', () => {
  const exchange = (fields: Fields, headers: Record<string, string> = {}) =>
    sendForm(service, '/oauth/token', fields, { headers });

  it('issues a token once, after the user has approved', async () => {
    const flow = await startFlow(service, service.development, 'request_logs:read');
    expectOAuthError(await poll(service, flow), PENDING);
    expect((await decide(service, user, flow.user_code)).html).toContain('Device approved');

    const { status, headers, body } = await poll(service, flow);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.has('etag')).toBe(false);
    expect(body).toEqual({
      token_type: 'Bearer',
      expires_in: 900,
      access_token: expect.any(String),
      scope: 'request_logs:read',
    });
    const token = String(body['access_token']);
    rememberSecret(token);
    const claims = decodeJwt(token);
    expect(claims).toEqual({
      iss: DASHBOARD_URL,
      aud: DASHBOARD_URL,
      sub: user.userId,
      client_id: service.development.clientId,
      iat: expect.any(Number),
      exp: Number(claims.iat) + 900,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      environment: 'development',
      scope: 'request_logs:read',
      roles: ['member'],
      org: service.organizationId,
      access_version: 0,
    });
    for (let attempt = 0; attempt < 3; attempt += 1)
      expectOAuthError(await poll(service, flow), INVALID_GRANT);
  });

  it('returns the error of each state repeatedly', async () => {
    const pending = await startFlow(service);
    expectOAuthError(await poll(service, pending), PENDING);
    expectOAuthError(await poll(service, pending), SLOW_DOWN);

    const denied = await startFlow(service);
    await decide(service, user, denied.user_code, 'deny');
    for (let attempt = 0; attempt < 3; attempt += 1) expectOAuthError(await poll(service, denied), DENIED);

    const approved = await startFlow(service);
    await decide(service, user, approved.user_code);
    using _clock = moveClock(service, 10 * MINUTE + SECOND);
    for (const flow of [pending, approved, pending, approved]) {
      expectOAuthError(await poll(service, flow), EXPIRED);
    }
  });

  it('returns the same error for unknown codes and codes of another client', async () => {
    const flow = await startFlow(service);
    await decide(service, user, flow.user_code);
    const otherOrganization = await service.anotherOrganization();
    const responses = [
      await poll(service, flow, service.production),
      await poll(service, flow, otherOrganization.development),
      await poll(service, { device_code: randomBytes(32).toString('base64url') }),
      await poll(service, { device_code: flow.device_code.slice(1) }),
      await poll(service, { device_code: flow.user_code }),
      await poll(service, { device_code: 'x'.repeat(10_000) }),
    ];
    for (const response of responses) expectOAuthError(response, INVALID_GRANT);
    expect(new Set(responses.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect((await poll(service, flow)).status).toBe(200);
  });

  it('rejects malformed requests, checking in the documented order', async () => {
    const id = service.development.clientId;
    const { device_code } = await startFlow(service);
    const right = { grant_type: GRANT, client_id: id, device_code };
    const { grant_type: _grant, ...withoutGrant } = right;
    const { client_id: _client, ...withoutClient } = right;
    const { device_code: _code, ...withoutCode } = right;
    for (const fields of [
      withoutGrant,
      withoutClient,
      withoutCode,
      { ...right, grant_type: '' },
      { ...right, client_id: '' },
      { ...right, device_code: '' },
      [...Object.entries(right), ['device_code', 'other']] as [string, string][],
      [...Object.entries(right), ['client_id', UNKNOWN_ID]] as [string, string][],
    ] as Fields[]) {
      expectOAuthError(await exchange(fields), INVALID_REQUEST);
    }
    for (const authorization of ['Basic eDp5', 'Bearer x', '', 'nonsense']) {
      expectOAuthError(await exchange(right, { authorization }), INVALID_REQUEST);
    }
    for (const type of [
      'application/json',
      'text/plain',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencoded; charset=utf-16',
    ]) {
      expectOAuthError(await exchange(right, { 'content-type': type }), INVALID_REQUEST);
    }
    for (const charset of ['utf-8', 'utf8', '"UTF-8"', 'ISO-8859-1', 'us-ascii', 'utf-8; version=1']) {
      const type = { 'content-type': `application/x-www-form-urlencoded; charset=${charset}` };
      expectOAuthError(await exchange({ ...right, client_id: UNKNOWN_ID }, type), INVALID_CLIENT);
    }
    for (const grant_type of ['authorization_code', 'password', GRANT.toUpperCase(), `${GRANT} `]) {
      expectOAuthError(await exchange({ ...right, grant_type, client_id: UNKNOWN_ID }), UNSUPPORTED);
    }
    for (const client_id of [UNKNOWN_ID, 'me', '%00']) {
      const response = await exchange({ ...right, client_id, device_code: '' });
      expectOAuthError(response, INVALID_CLIENT);
      expect(response.headers.has('www-authenticate')).toBe(false);
    }
    expectOAuthError(await exchange({ ...right, device_code: 'a\0b' }), INVALID_REQUEST);
    // None of these requests counts as a poll.
    expectOAuthError(await exchange({ ...right, unknown_parameter: 'ignored' }), PENDING);
  });

  it('accepts only POST', async () => {
    for (const path of ['/oauth/token', '/oauth/device/code', '/oauth/revoke', '/oauth/introspect']) {
      for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
        const response = await service.request(path, { method });
        expectOAuthError(response, { ...INVALID_REQUEST, status: 405, code: 'METHOD_NOT_ALLOWED' });
        expect(response.headers.get('allow')).toBe('POST');
      }
    }
    const unknown = await service.request('/oauth/authorize');
    expectOAuthError(unknown, { ...INVALID_REQUEST, status: 404, code: 'NOT_FOUND' });
  });

  it('rejects bodies that are too large or use an unknown encoding', async () => {
    const fields = { grant_type: GRANT, client_id: service.development.clientId, device_code: 'x' };
    for (const path of ['/oauth/token', '/oauth/device/code', '/oauth/revoke', '/oauth/introspect']) {
      const as = path === '/oauth/introspect' ? { as: service.development } : {};
      const large = await sendForm(service, path, { ...fields, more: 'x'.repeat(17_000) }, as);
      expectOAuthError(large, { ...INVALID_REQUEST, status: 413, code: 'PAYLOAD_TOO_LARGE' });
      expect(large.body['error_message']).toBe('The request body must not be larger than 16384 bytes.');
      const packed = await service.request(path, {
        body: 'x',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'content-encoding': 'compress',
          'x-forwarded-for': freshAddress(),
        },
        ...as,
      });
      expectOAuthError(packed, { ...INVALID_REQUEST, status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
      const { paths, components } = documentedOf((await service.request('/openapi.json')).body);
      expect(paths[path]?.post.responses['415']).toEqual({
        $ref: '#/components/responses/OAuthInvalidRequest',
      });
      const shared = components.responses['OAuthInvalidRequest'];
      expect(shared?.content['application/json'].example).toEqual(packed.body);
      expect(shared?.description).not.toContain('media type');
    }
  });

  it('is limited per IP address', async () => {
    const headers = { 'x-forwarded-for': freshAddress() };
    const fields = { grant_type: GRANT, client_id: service.development.clientId, device_code: 'x' };
    const statuses: number[] = [];
    for (let index = 0; index < 20; index += 1) statuses.push((await exchange(fields, headers)).status);
    expect(new Set(statuses)).toEqual(new Set([400]));
    const response = await exchange(fields, headers);
    expectOAuthError(response, TOO_MANY);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    for (const path of ['/.well-known/jwks.json', '/.well-known/oauth-authorization-server']) {
      expectOAuthError(await service.request(path, { headers }), TOO_MANY);
    }
    expectOAuthError(await sendForm(service, '/oauth/revoke', {}, { headers }), TOO_MANY);
    expect((await exchange(fields)).status).toBe(400);
  });

  it('rejects clients of other environments if the deployment is pinned to one', async () => {
    const [development, production] = [
      await startFlow(service),
      await startFlow(service, service.production),
    ];
    const token = await accessToken(service, user);
    const configuration = service.app.get(ServiceConfiguration);
    configuration.pinnedEnvironment = 'production';
    try {
      expectOAuthError(await poll(service, development), INVALID_CLIENT);
      expectOAuthError(await poll(service, production, service.production), PENDING);
      const fields = { client_id: service.development.clientId };
      expectOAuthError(await sendForm(service, '/oauth/device/code', fields), INVALID_CLIENT);
      expect((await service.request('/me', { token })).status).toBe(401);
      const browser = new Browser(service.baseUrl, user, { 'x-forwarded-for': freshAddress() });
      await browser.open('/device');
      expect((await browser.send('/device', { user_code: development.user_code })).status).toBe(404);
      expect((await browser.send('/device', { user_code: production.user_code })).status).toBe(303);
    } finally {
      delete configuration.pinnedEnvironment;
    }
    expect((await service.request('/me', { token })).status).toBe(200);
  });

  it.each([
    ['disabled', `UPDATE dashboard_user SET disabled_at = now() WHERE id = $1`],
    ['removed', `DELETE FROM dashboard_user WHERE id = $1`],
  ])('denies a device whose approver was %s after approving', async (_what, statement) => {
    const approver = await service.login('admin');
    const flow = await startFlow(service);
    await decide(service, approver, flow.user_code);
    await service.database.query(statement, [approver.userId]);
    for (let attempt = 0; attempt < 3; attempt += 1) expectOAuthError(await poll(service, flow), DENIED);
    await service.database.query(`UPDATE dashboard_user SET disabled_at = NULL WHERE id = $1`, [
      approver.userId,
    ]);
    expectOAuthError(await poll(service, flow), DENIED);
  });

  it('denies a device whose approver moved to another organization', async () => {
    const approver = await service.login('admin');
    const flow = await startFlow(service);
    await decide(service, approver, flow.user_code);
    const { id } = await service.anotherOrganization();
    await service.database.query('UPDATE dashboard_user SET organization_id = $2 WHERE id = $1', [
      approver.userId,
      id,
    ]);
    expectOAuthError(await poll(service, flow), DENIED);
  });
});

describe('Polling intervals', () => {
  const statusOf = async (flow: StartedFlow): Promise<string> => {
    const { body } = await poll(service, flow);
    return String(body['error']);
  };

  it('never slows down a device that polls at 0.85 of the interval with 50 ms of jitter', async () => {
    let time = Date.now();
    const refused: number[] = [];
    let polls = 0;
    for (let code = 0; code < 4; code += 1) {
      using _clock = stopClock(service, new Date(time));
      const flow = await startFlow(service);
      // The first poll is accepted immediately.
      for (let pollIndex = 0; pollIndex < 50; pollIndex += 1) {
        const jitter = Math.round((Math.random() * 2 - 1) * 50);
        using _jittered = stopClock(service, new Date(time + jitter));
        polls += 1;
        if ((await statusOf(flow)) !== 'authorization_pending') refused.push(pollIndex);
        time += 5 * SECOND * 0.85;
      }
    }
    expect([polls, refused]).toEqual([200, []]);
  });

  it('raises the interval by 5 seconds per early poll, up to 30 seconds, counting from the last accepted poll', async () => {
    const start = Date.now();
    const flow = await startFlow(service);
    const at = async (seconds: number): Promise<Record<string, unknown>> => {
      using _clock = stopClock(service, new Date(start + seconds * SECOND));
      return (await poll(service, flow)).body;
    };
    expect((await at(1))['error']).toBe('authorization_pending');
    const intervals: unknown[] = [];
    for (let second = 2; second < 9; second += 1) {
      const { error, interval } = await at(second);
      expect(error).toBe('slow_down');
      intervals.push(interval);
    }
    expect(intervals).toEqual([10, 15, 20, 25, 30, 30, 30]);
    // 0.8 of 30 seconds since the last accepted poll, regardless of the polls in between.
    expect((await at(24.9))['error']).toBe('slow_down');
    expect((await at(25))['error']).toBe('authorization_pending');
    expect((await at(48.9))['error']).toBe('slow_down');
    expect((await at(49))['error']).toBe('authorization_pending');
  });

  it('checks the state before the interval', async () => {
    const [approved, denied] = [await startFlow(service), await startFlow(service)];
    for (const flow of [approved, denied]) expect(await statusOf(flow)).toBe('authorization_pending');
    await decide(service, user, approved.user_code);
    await decide(service, user, denied.user_code, 'deny');
    expect((await poll(service, approved)).status).toBe(200);
    expectOAuthError(await poll(service, denied), DENIED);
  });

  it('accepts exactly 1 of 30 concurrent polls', async () => {
    const flow = await startFlow(service);
    const errors = await Promise.all(Array.from({ length: 30 }, () => statusOf(flow)));
    expect(errors.filter((error) => error === 'authorization_pending')).toHaveLength(1);
    expect(errors.filter((error) => error === 'slow_down')).toHaveLength(29);
  });
});

describe('Concurrent polls of different devices', () => {
  it('return to each device the state of its own code', async () => {
    const clients = [service.development, service.production];
    const flows = await Promise.all(
      Array.from({ length: 24 }, (_, flowIndex) => startFlow(service, clients[flowIndex % 2])),
    );
    const decisions = [undefined, 'approve', undefined, 'deny', 'approve', undefined] as const;
    for (const [flowIndex, { user_code }] of flows.entries()) {
      const decision = decisions[flowIndex % decisions.length];
      if (decision) await decide(service, user, user_code, decision);
    }
    const polls = [
      // Each code is polled by the wrong client and twice by the right one; one code is unknown.
      ...flows.map((flow, index) => ({ flow, client: clients[(index + 1) % 2], flowIndex: undefined })),
      ...[...flows, ...flows].map((flow, index) => {
        const flowIndex = index % flows.length;
        return { flow, client: clients[flowIndex % 2], flowIndex };
      }),
      {
        flow: { device_code: randomBytes(32).toString('base64url') },
        client: service.development,
        flowIndex: undefined,
      },
    ];
    const responses = await Promise.all(polls.map(({ flow, client }) => poll(service, flow, client)));
    const outcomes = responses.map(({ status, body }) => (status === 200 ? 'token' : String(body['error'])));
    const outcomesOf = (flowIndex: number | undefined) =>
      outcomes.filter((_, index) => polls[index]?.flowIndex === flowIndex).toSorted();
    expect(new Set(outcomesOf(undefined))).toEqual(new Set(['invalid_grant']));
    const expected = {
      none: ['authorization_pending', 'slow_down'],
      approve: ['invalid_grant', 'token'],
      deny: ['access_denied', 'access_denied'],
    };
    expect(flows.map((_, flowIndex) => outcomesOf(flowIndex))).toEqual(
      flows.map((_, flowIndex) => expected[decisions[flowIndex % decisions.length] ?? 'none']),
    );
    for (const { body } of responses) if (body['access_token']) rememberSecret(String(body['access_token']));
    const tokens = responses.flatMap(({ body }) =>
      body['access_token'] ? [String(body['access_token'])] : [],
    );
    expect(tokens.map((token) => decodeJwt(token)['client_id']).toSorted()).toEqual(
      flows
        .flatMap((_, flowIndex) =>
          decisions[flowIndex % decisions.length] === 'approve' ? [clients[flowIndex % 2]?.clientId] : [],
        )
        .toSorted(),
    );
  });
});

describe('Expiry', () => {
  it('deletes requests one day after they expire', async () => {
    await startFlow(service);
    const cleaning = service.app.get(ExpiryJob);
    const count = async (): Promise<number> => {
      const rows = await service.database.query('SELECT 1 FROM device_authorization');
      return rows.length;
    };
    const before = await count();
    await cleaning.run();
    {
      using _clock = moveClock(service, 23 * 60 * MINUTE);
      await cleaning.run();
    }
    expect(await count()).toBe(before);
    {
      using _clock = moveClock(service, 24 * 60 * MINUTE + 11 * MINUTE);
      await cleaning.run();
    }
    // The requests of the interval tests lie in the future.
    expect(await count()).toBeLessThan(before);
  });
});
