import { randomUUID } from 'node:crypto';
import { ExpiryJob } from '../../../src/infrastructure/database/index.js';
import { HOUR } from '../../../src/infrastructure/time/index.js';
import { ApiKeysService } from '../../../src/modules/api-keys/index.js';
import { moveClock } from '../../support/clock.js';
import { sendForm } from '../../support/logins/device-flow.js';
import { eventually } from '../../support/eventually.js';
import {
  useIdempotentOperations,
  type IdempotentOperation,
} from '../../support/documents/idempotent-operations.js';
import { CREATE_MCP_TOKEN, CREATE_SESSION } from '../../support/documents/operations.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { countOf, error, invalidField, useTestApp } from '../../support/test-app.js';

const CONCURRENT = 20;
const KEY_REUSED = error(
  'INVALID_REQUEST',
  'IDEMPOTENCY_KEY_REUSED',
  'The idempotency key was used for a request with different content. Use another key.',
);
const MALFORMED = invalidField(
  'The Idempotency-Key header must be one key of 1 to 255 visible ASCII characters.',
);

const service = useTestApp({
  MCP_TOKEN_REQUESTS_PER_MINUTE: '1000000',
});
const { OPERATIONS, send, numberOf } = useIdempotentOperations(service);

describe.each(OPERATIONS)('An Idempotency-Key with POST $path', (operation) => {
  const { table } = operation;

  it('repeats the response without repeating the operation', async () => {
    const [key, body] = [randomUUID(), operation.newBody()];
    const before = await numberOf(table);
    const first = await send(operation, key, body);
    expect(first.status).toBe(200);
    const reordered = Object.fromEntries(Object.entries(body).toReversed());
    for (const [sameKey, sameBody] of [
      [key, body],
      [`"${key}"`, reordered],
    ] as const) {
      const repeated = await send(operation, sameKey, sameBody);
      expect(repeated).toMatchObject({ status: 200, body: first.body });
      expect(repeated.headers.get('idempotency-replayed')).toBe('true');
    }
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect(await numberOf(table)).toBe(before + 1);
  });

  it('is refused with another body', async () => {
    const [key, body] = [randomUUID(), operation.newBody()];
    expect((await send(operation, key, body)).status).toBe(200);
    const before = await numberOf(table);
    const different = await send(operation, key, { ...body, description: 'Another request' });
    expect([different.status, different.body]).toEqual([409, KEY_REUSED]);
    expect(await numberOf(table)).toBe(before);
  });

  it(`has one result for ${CONCURRENT} concurrent requests`, async () => {
    const [key, body] = [randomUUID(), operation.newBody()];
    const before = await numberOf(table);
    const responses = await Promise.all(Array.from({ length: CONCURRENT }, () => send(operation, key, body)));
    const succeeded = responses.filter(({ status }) => status === 200);
    expect(succeeded.length).toBeGreaterThan(0);
    expect(new Set(succeeded.map((response) => JSON.stringify(response.body))).size).toBe(1);
    for (const refused of responses.filter(({ status }) => status !== 200)) {
      expect([refused.status, refused.body['error_code']]).toEqual([409, 'ONGOING_OPERATION']);
      expect(refused.headers.get('retry-after')).toBe('1');
    }
    expect(await numberOf(table)).toBe(before + 1);
    expect(await send(operation, key, body)).toMatchObject({ status: 200, body: succeeded[0]?.body });
  });

  it('belongs to the sender', async () => {
    const [key, body] = [randomUUID(), operation.newBody()];
    const first = await send(operation, key, body);
    for (const other of await operation.others()) {
      const { status, body: response } = await send(
        operation,
        key,
        { ...body, ...newBodyOf(operation) },
        other,
      );
      expect(status).toBe(200);
      expect(response).not.toEqual(first.body);
    }
  });

  it('can be used again after the request failed', async () => {
    const [key, body] = [randomUUID(), operation.newBody()];
    expect((await send(operation, key, {})).status).toBe(400);
    {
      await using _table = await service.database.hide(table);
      expect((await send(operation, key, body)).status).toBe(500);
    }
    expect((await send(operation, key, body)).status).toBe(200);
  });

  it('is kept for 24 hours', async () => {
    const [key, body] = [randomUUID(), operation.newBody()];
    const first = await send(operation, key, body);
    await service.database.query("UPDATE dashboard_session SET expires_at = expires_at + interval '2 days'");
    {
      using _clock = moveClock(service, 23 * HOUR);
      await service.app.get(ExpiryJob).run();
      expect((await send(operation, key, body)).body).toEqual(first.body);
    }
    using _clock = moveClock(service, 25 * HOUR);
    if (table === 'webhook_endpoint') await service.database.query('DELETE FROM webhook_endpoint');
    const second = await send(operation, key, body);
    expect(second.status).toBe(200);
    expect(second.body).not.toEqual(first.body);
    expect((await send(operation, key, body)).body).toEqual(second.body);
  });

  it.each([
    ['blank', ' '],
    ['a blank string', '" "'],
    ['too long', 'x'.repeat(256)],
    ['not one key', 'a, b'],
    ['half a string', '"a'],
    ['two strings', '"a", "b"'],
  ])('is refused if it is %s', async (_what, key) => {
    const { status, body } = await send(operation, key, operation.newBody());
    expect([status, body]).toEqual([400, MALFORMED]);
  });

  it('reveals nothing in the database, not even the request', async () => {
    const [key, body] = [`key-${randomUUID()}`, operation.newBody()];
    const { body: response } = await send(operation, key, body);
    const [row] = await service.database.query<Record<string, Buffer>>(
      'SELECT key_hash, request_hash, response_sealed FROM idempotency_key ORDER BY created_at DESC LIMIT 1',
    );
    const stored = Buffer.concat(Object.values(row ?? {})).toString('latin1');
    expect(stored.length).toBeGreaterThan(64);
    const texts = [key, ...Object.values(body), ...Object.values(response)].map(String);
    // Shorter ones are in the bytes by chance.
    for (const text of texts.filter(({ length }) => length > 5)) expect(stored).not.toContain(text);
  });
});

/** A body that does not collide with what another user of the organization created. */
function newBodyOf({ table, newBody }: IdempotentOperation): object {
  return table === 'webhook_endpoint' ? newBody() : {};
}

describe('An Idempotency-Key that a program sends to the dashboard API', () => {
  it('still counts after its API key was rotated', async () => {
    const keys = service.app.get(ApiKeysService);
    const { stored, token } = await keys.create(service.development.clientId, {
      name: 'deployment',
      scopes: ['webhook_endpoints:write'],
    });
    const successor = await keys.rotate(stored.id);
    const body = { environment: 'development', url: `https://hooks.example.com/${randomUUID()}` };
    const key = randomUUID();
    const createWith = (credential: string) => {
      rememberSecret(credential);
      const headers = { 'idempotency-key': key, authorization: `Bearer ${credential}` };
      return service.request('/webhook-endpoints/create', { body, headers });
    };
    const first = await createWith(token);
    expect(first.status).toBe(200);
    expect(await createWith(successor.token)).toMatchObject({ status: 200, body: first.body });
  });
});

describe('A request without Idempotency-Key', () => {
  it('uses neither a key nor a transaction', async () => {
    await using _table = await service.database.hide('idempotency_key');
    const before = await numberOf('mcp_token');
    const { path, body } = CREATE_MCP_TOKEN;
    const responses = await Promise.all(
      Array.from({ length: CONCURRENT }, () => service.request(path, { body, as: service.development })),
    );
    for (const response of responses) rememberSecret(String(response.body['token']));
    expect(countOf(responses, 200)).toBe(CONCURRENT);
    expect(await numberOf('mcp_token')).toBe(before + CONCURRENT);
  });
});

describe('The stored response', () => {
  it('is deleted with its user, and when its token is revoked', async () => {
    const [tokens, sessions] = OPERATIONS as [IdempotentOperation, IdempotentOperation];
    const stored = async (work: () => Promise<unknown>): Promise<number> => {
      const before = await numberOf('idempotency_key');
      await work();
      return (await numberOf('idempotency_key')) - before;
    };
    const user = `user ${randomUUID()}`;
    const create = async (operation: IdempotentOperation) =>
      send(operation, randomUUID(), { ...operation.newBody(), external_user_id: user });
    let token = '';
    expect(
      await stored(async () => {
        ({ token } = (await create(tokens)).body as { token: string });
        await create(tokens);
        await create(sessions);
      }),
    ).toBe(3);
    const form = { token, client_id: service.development.clientId };
    expect(await stored(() => sendForm(service, '/oauth/revoke', form))).toBe(-1);
    const path = `/external-users/${encodeURIComponent(user)}`;
    const erase = () => service.request(path, { method: 'DELETE', as: service.development });
    expect(await stored(erase)).toBe(-2);
  });
});

describe('A repeated token', () => {
  it('works', async () => {
    const [operation] = OPERATIONS as [IdempotentOperation];
    const [key, body] = [randomUUID(), operation.newBody()];
    await send(operation, key, body);
    const { token } = (await send(operation, key, body)).body;
    const introspected = await sendForm(
      service,
      '/oauth/introspect',
      { token: String(token) },
      { as: service.development },
    );
    expect(introspected.body).toMatchObject({ active: true });
  });
});

describe('A repeated session', () => {
  it('is in the request log each time', async () => {
    const [, operation] = OPERATIONS as [IdempotentOperation, IdempotentOperation];
    const [key, body] = [randomUUID(), operation.newBody()];
    const { session } = (await send(operation, key, body)).body;
    await send(operation, key, body);
    const entries = await eventually('the requests are in the log', async () => {
      const rows = await service.database.query('SELECT status_code FROM request_log WHERE session_id = $1', [
        session,
      ]);
      return rows.length === 2 ? rows : undefined;
    });
    expect(entries).toEqual([{ status_code: 200 }, { status_code: 200 }]);
  });
});

describe('An operation that ends or extends something', () => {
  const withKey = (path: string, body: object | undefined, key: string) =>
    service.request(path, {
      method: 'POST',
      ...(body && { body }),
      headers: { 'idempotency-key': key },
      as: service.development,
    });

  it('extends a session once for each key', async () => {
    const { body: created } = await service.request(CREATE_SESSION.path, {
      body: CREATE_SESSION.body,
      as: service.development,
    });
    const body = { session_id: created['session'] };
    const key = randomUUID();
    const first = await withKey('/session/extend', body, key);
    const repeated = await withKey('/session/extend', body, key);
    expect([first.status, repeated.body]).toEqual([200, first.body]);
    expect(repeated.headers.get('idempotency-replayed')).toBe('true');
    const next = await withKey('/session/extend', body, randomUUID());
    expect(Date.parse(String(next.body['expires_at']))).toBeGreaterThan(
      Date.parse(String(first.body['expires_at'])),
    );
  });

  it('does not unlink an account again that was linked meanwhile', async () => {
    const account = { external_user_id: `user ${randomUUID()}`, merchant_id: 16 };
    const link = () =>
      service.request('/development/accounts/link', { body: account, as: service.development });
    await link();
    const key = randomUUID();
    const first = await withKey('/accounts/unlink', account, key);
    expect(first).toMatchObject({ status: 200, body: { state: 'disconnected' } });
    await link();
    expect((await withKey('/accounts/unlink', account, key)).body).toEqual(first.body);
    const path = `/merchant-accounts?external_user_id=${encodeURIComponent(account.external_user_id)}`;
    const accounts = await service.request(path, { as: service.development });
    expect(accounts.body).toMatchObject({ data: [{ state: 'connected' }] });
  });

  it.each(['/sign-in-links/%s/cancel', '/mcp/authorizations/%s/complete'])(
    'checks the key of POST %s',
    async (path) => {
      const address = path.replace('%s', randomUUID());
      const body = path.startsWith('/mcp') ? { external_user_id: 'user-1' } : undefined;
      expect((await withKey(address, body, 'a, b')).body).toEqual(MALFORMED);
      expect((await withKey(address, body, randomUUID())).status).toBe(404);
    },
  );
});
