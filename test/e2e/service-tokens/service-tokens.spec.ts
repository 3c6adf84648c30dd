import { readFileSync } from 'node:fs';
import { HOUR, SECOND } from '../../../src/infrastructure/time/index.js';
import { SERVICE_SCOPES } from '../../../src/infrastructure/auth/index.js';
import { ServiceTokensService } from '../../../src/modules/service-tokens/index.js';
import { acceptAccessTokens } from '../../support/logins/access-tokens.js';
import { moveClock, setClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { UNKNOWN_ID } from '../../support/documents/operations.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { issueServiceToken } from '../../support/logins/service-tokens.js';
import { error, useTestApp } from '../../support/test-app.js';

/** How long a process caches a token. */
const CACHED_FOR = 5 * SECOND;
const REALM = 'Bearer realm="Internal API"';
const refusal = (message: string) => error('INVALID_INPUT', 'INVALID_ACCESS_TOKEN', message);
const INVALID_TOKEN = refusal('The service token is not valid.');
const EXPIRED_TOKEN = refusal('The service token has expired.');
const NO_TOKEN = refusal(
  'The request has no credentials. Send the service token with the Bearer scheme in the Authorization header.',
);
const ANOTHER_SCHEME = refusal(
  'The Authorization header must use the Bearer scheme, with the service token.',
);

interface Operation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly security: readonly Readonly<Record<string, unknown>>[];
}

const { paths } = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Pick<Operation, 'operationId' | 'security'>>>;
};
const operations: Operation[] = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId, security }]) => ({
    operationId,
    security,
    method: method.toUpperCase(),
    path: path.replaceAll(/\{\w+\}/g, UNKNOWN_ID),
  })),
);
const requires = (scheme: string) => (operation: Operation) =>
  operation.security.some((each) => scheme in each);
const INTERNAL = operations.filter(requires('service-token'));
const OTHERS = operations.filter((operation) =>
  ['basic', 'bearer', 'session'].some((scheme) => requires(scheme)(operation)),
);

const service = useTestApp();

/** Publishes an invalid event, so the status is 400 if the token is accepted. */
const statusWith = async (token: string): Promise<number> =>
  (await service.request('/events', { body: {}, token })).status;

const lastUseOf = async (id: string): Promise<Date | null | undefined> =>
  (
    await service.database.query<{ last_used_at: Date | null }>(
      'SELECT last_used_at FROM service_token WHERE id = $1',
      [id],
    )
  )[0]?.last_used_at;

describe('Internal operations', () => {
  it('are all operations for the platform’s own services', () => {
    expect(INTERNAL.map(({ operationId }) => operationId).toSorted()).toEqual([
      'createDetection',
      'getEvent',
      'listMerchantStatuses',
      'publishEvent',
      'publishEvents',
      'setMerchantStatus',
    ]);
    expect(OTHERS.length).toBeGreaterThan(30);
  });

  it.each(INTERNAL)('reject all other credentials: $operationId', async ({ method, path }) => {
    const body = method === 'GET' ? {} : { body: 'not read' };
    const accessToken = await acceptAccessTokens(service)(await service.login('owner'));
    const { token } = await issueServiceToken(service);
    const wrong = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;
    rememberSecret(wrong);
    for (const credentials of [
      { token: accessToken },
      { token: service.production.secret },
      { token: wrong },
      { token: `${token}0` },
    ]) {
      const response = await service.request(path, { method, ...body, ...credentials });
      expect([response.status, response.body]).toEqual([401, INVALID_TOKEN]);
      expect(response.headers.get('www-authenticate')).toBe(
        `${REALM}, error="invalid_token", error_description="The service token is not valid."`,
      );
    }
    for (const [credentials, message] of [
      [{ as: service.development }, ANOTHER_SCHEME],
      [{ as: service.production }, ANOTHER_SCHEME],
      [{ headers: { authorization: `Basic ${token}` } }, ANOTHER_SCHEME],
      [{ headers: { authorization: token } }, ANOTHER_SCHEME],
      [{ login: await service.login('owner') }, NO_TOKEN],
    ] as const) {
      const response = await service.request(path, { method, ...body, ...credentials });
      expect([response.status, response.body]).toEqual([401, message]);
      expect(response.headers.get('www-authenticate')).toBe(REALM);
    }
    const inQuery = await service.request(`${path}?access_token=${token}`, { method, ...body });
    expect(inQuery.status).toBe(401);
    expect((await service.request(path, { method, ...body, token })).status).not.toBe(401);
  });

  it.each(INTERNAL)('require their scope before they read the body: $operationId', async (operation) => {
    const { operationId, method, path } = operation;
    const scope = operationId === 'createDetection' ? 'detections:write' : 'events:publish';
    const { token } = await issueServiceToken(
      service,
      SERVICE_SCOPES.filter((each) => each !== scope),
    );
    const { status, body, headers } = await service.request(path, {
      method,
      ...(method === 'GET' ? {} : { body: 'not read' }),
      token,
    });
    const message = `The service token lacks the scope ${scope}.`;
    expect([status, body]).toEqual([403, error('INVALID_REQUEST', 'INSUFFICIENT_SCOPE', message)]);
    expect(headers.get('www-authenticate')).toBe(`${REALM}, error="insufficient_scope", scope="${scope}"`);
  });
});

describe('A service token', () => {
  it.each(OTHERS)('is rejected by $operationId', async ({ method, path }) => {
    const { token } = await issueServiceToken(service);
    // Uses fetch directly: path parameters and queries are not valid.
    const response = await fetch(`${service.baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(method === 'GET' ? {} : { body: '{}' }),
    });
    expect(response.status).toBe(401);
  });

  it('is stored as a digest only', async () => {
    const { token } = await issueServiceToken(service);
    expect(token).toMatch(/^mcs_svc_[0-9A-Za-z]{49}$/);
    const rows = await service.database.query<{ row: string }>('SELECT t::text AS row FROM service_token t');
    const hexadecimal = Buffer.from(token).toString('hex');
    for (const { row } of rows) {
      expect(row).not.toContain(token.slice('mcs_svc_'.length));
      expect(row).not.toContain(hexadecimal);
    }
  });

  it('is rejected within 5 seconds of its revocation', async () => {
    const { token, stored } = await issueServiceToken(service);
    expect(await statusWith(token)).toBe(400);
    await service.app.get(ServiceTokensService).revoke(stored.id);
    using _clock = moveClock(service, CACHED_FOR + 1);
    expect(await statusWith(token)).toBe(401);
  });

  it('is rejected within 5 s after it was revoked, also if the clock is set back meanwhile', async () => {
    const { token, stored } = await issueServiceToken(service);
    expect(await statusWith(token)).toBe(400);
    await service.app.get(ServiceTokensService).revoke(stored.id);
    using _clock = setClock(service, -HOUR, CACHED_FOR + 1);
    expect(await statusWith(token)).toBe(401);
  });

  it('is accepted until the overlap of its rotation ends', async () => {
    const { token, stored } = await issueServiceToken(service, ['events:publish']);
    expect(await statusWith(token)).toBe(400);
    const tokens = service.app.get(ServiceTokensService);
    const next = await tokens.rotate(stored.id, 1);
    rememberSecret(next.token);
    expect(next.stored).toMatchObject({ name: 'Test', scopes: ['events:publish'] });
    expect(await statusWith(token)).toBe(400);
    using _clock = moveClock(service, HOUR + 1);
    const { status, body } = await service.request('/events', { body: {}, token });
    expect([status, body]).toEqual([401, EXPIRED_TOKEN]);
    expect(await statusWith(next.token)).toBe(400);
  });

  it('is rotated by 1 of 20 concurrent requests', async () => {
    const { stored } = await issueServiceToken(service);
    const tokens = service.app.get(ServiceTokensService);
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => tokens.rotate(stored.id, 1)));
    for (const result of results) if (result.status === 'fulfilled') rememberSecret(result.value.token);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('has a time of last use that changes at most once a minute', async () => {
    const { token, stored } = await issueServiceToken(service);
    expect(await lastUseOf(stored.id)).toBeNull();
    await statusWith(token);
    const first = await eventually(
      'the use is recorded',
      async () => (await lastUseOf(stored.id)) ?? undefined,
    );
    const useAfter = async (milliseconds: number): Promise<void> => {
      using _clock = moveClock(service, milliseconds);
      await statusWith(token);
    };
    await useAfter(CACHED_FOR + 1);
    await useAfter(50 * SECOND);
    expect(await lastUseOf(stored.id)).toEqual(first);
    await useAfter(70 * SECOND);
    await eventually('the next use is recorded', async () => {
      const last = await lastUseOf(stored.id);
      return last ? last > first : undefined;
    });
  });
});
