import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { TransactionHost } from '@nestjs-cls/transactional';
import { Transaction } from '../../../src/infrastructure/database/index.js';
import { HOUR } from '../../../src/infrastructure/time/index.js';
import { ApiClientsService } from '../../../src/modules/api-clients/index.js';
import { ApiKeysService } from '../../../src/modules/api-keys/index.js';
import { AccessGrant } from '../../../src/modules/dashboard-users/access-grant.entity.js';
import {
  DashboardUsersRepository,
  UserAdministrationService,
} from '../../../src/modules/dashboard-users/index.js';
import { IDENTIFY_OPERATION_NAME } from '../../../src/modules/detected-accounts/index.js';
import { mcpToken, toolCall } from '../../support/agents/agents.js';
import { accessToken, sendForm } from '../../support/logins/device-flow.js';
import { auditEntries } from '../../support/logs/audited.js';
import { moveClock } from '../../support/clock.js';
import { addUser } from '../../support/pages/dashboard-users.js';
import { eventually } from '../../support/eventually.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { basic, useTestApp, type Login } from '../../support/test-app.js';
import { visitorWithRole, type Visitor } from '../../support/pages/visitor.js';

/** Milliseconds: longer than a body may take before its request is checked again. */
const SLOW = 1_100;
/** Milliseconds: longer than accepted secrets are cached. */
const CACHED = 6_000;
const FORM = 'application/x-www-form-urlencoded';
const INVITATION = '/dashboard/users/invitations/new';
const END_SESSIONS = 'DELETE FROM dashboard_session WHERE user_id = $1';

/** Credentials of a request to the dashboard API, and how they end. */
interface Credentials {
  readonly token?: string;
  readonly login?: Login;
  readonly end: () => Promise<unknown>;
}

const service = useTestApp();
const changeUser = (id: string, changes: object): Promise<void> =>
  service.app.get(DashboardUsersRepository).change(id, changes);

/** Sends a request, and the end of its body after the work. @returns the status of the response */
async function sendLate(
  path: string,
  { type, body, ...headers }: Readonly<Record<'type' | 'body', string>> & Readonly<Record<string, string>>,
  work: () => Promise<unknown>,
): Promise<number | undefined> {
  const sent = request(`${service.baseUrl}${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': type, 'content-length': Buffer.byteLength(body) },
  });
  const responded = new Promise<number | undefined>((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
  });
  sent.write(body.slice(0, 1));
  await pause(SLOW);
  await work();
  sent.end(body.slice(1));
  return responded;
}

async function sendFormLate(visitor: Visitor, fields: Record<string, string>, work: () => Promise<unknown>) {
  const { text } = await visitor.get(INVITATION);
  const [, token = ''] = /name="form_token" value="([\w-]+)"/.exec(text) ?? [];
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const body = new URLSearchParams({ form_token: token, ...fields }).toString();
  return sendLate(INVITATION, { type: FORM, body, cookie }, work);
}

describe('A request whose body arrives slowly', () => {
  const invitation = (email: string) => ({ email, name: 'Late', role: 'viewer' });
  const exists = async (email: string): Promise<boolean> =>
    (await service.database.query('SELECT FROM dashboard_user WHERE email = $1', [email])).length > 0;

  it('succeeds as long as the rights of its user stay', async () => {
    const visitor = await visitorWithRole(service, 'admin');
    const status = await sendFormLate(visitor, invitation('slow@example.com'), async () => undefined);
    expect([status, await exists('slow@example.com')]).toEqual([303, true]);
  });

  it('is refused if its user lost the role meanwhile', async () => {
    const visitor = await visitorWithRole(service, 'admin');
    const demoted = () => changeUser(visitor.login.userId, { role: 'member' });
    const status = await sendFormLate(visitor, invitation('demoted@example.com'), demoted);
    expect([status, await exists('demoted@example.com')]).toEqual([403, false]);
    expect((await auditEntries(service))[0]).toMatchObject({
      event: { action: 'user.add', outcome: { status: 'denied' } },
    });
  });

  it('is refused if its login ended meanwhile', async () => {
    const visitor = await visitorWithRole(service, 'admin');
    const logOut = () => service.database.query('DELETE FROM dashboard_session');
    expect(await sendFormLate(visitor, invitation('gone@example.com'), logOut)).toBe(401);
    expect(await exists('gone@example.com')).toBe(false);

    const { cookie } = await service.login('owner');
    const json = { type: 'application/json', body: '{"environment":"development"}', cookie };
    expect(await sendLate('/webhook-endpoints/create', json, logOut)).toBe(401);
  });

  it('is refused if its token was revoked meanwhile', async () => {
    const token = await mcpToken(service, 'slow');
    const message = { type: 'application/json', body: JSON.stringify(toolCall('get_connection_info')) };
    const headers = {
      ...message,
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
    };
    expect(await sendLate('/mcp', headers, async () => undefined)).toBe(200);
    const revoke = () => service.database.query('UPDATE mcp_token SET revoked_at = now()');
    expect(await sendLate('/mcp', headers, revoke)).toBe(401);
  });
});

describe('A request with the credentials of a client, whose body arrives slowly', () => {
  const introspection = { path: '/oauth/introspect', type: FORM, body: 'token=unknown' };
  const search = {
    path: '/detected_accounts/identify',
    type: 'application/json',
    body: '{"external_user_id":"1","name":["Netflix"]}',
  };
  const forgetCached = (): void => {
    using _clock = moveClock(service, CACHED);
  };
  const sendLateAs = async (
    { path, ...body }: typeof introspection,
    change?: () => Promise<unknown>,
  ): Promise<number | undefined> => {
    forgetCached();
    const authorization = basic(service.development);
    const work = async (): Promise<void> => {
      await change?.();
      forgetCached();
    };
    return sendLate(path, { ...body, authorization }, work);
  };
  const enable = () =>
    service.app.get(ApiClientsService).enableOperation(service.development.clientId, IDENTIFY_OPERATION_NAME);

  it('succeeds as long as the credentials stay', async () => {
    await enable();
    for (const each of [introspection, search])
      expect([each.path, await sendLateAs(each)]).toEqual([each.path, 200]);
  });

  it('is refused if the client lost the operation meanwhile', async () => {
    await enable();
    const disable = () => service.database.query(`UPDATE api_client SET enabled_operations = '{}'`);
    expect(await sendLateAs(search, disable)).toBe(403);
  });

  it('is refused if the secret of the client ended meanwhile', async () => {
    await enable();
    for (const each of [introspection, search]) {
      const end = () => service.database.query('UPDATE api_secret SET accepted_until = now()');
      expect([each.path, await sendLateAs(each, end)]).toEqual([each.path, 401]);
      await service.database.query('UPDATE api_secret SET accepted_until = NULL');
    }
  });
});

describe('A change that waits for another one', () => {
  const users = () => service.app.get(DashboardUsersRepository);

  const isWaiting = () =>
    eventually('the change waits', async () => {
      const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
      return (await service.database.query(waiting)).length > 0;
    });

  /** Does the work while the change waits for the lock, by default that on the users. */
  async function whileItWaits<Result>(
    change: () => Promise<Result>,
    work: () => Promise<unknown>,
    lock = () => users().lockUsersOf(service.organizationId),
  ): Promise<Result> {
    const { changing } = await service.app.get(TransactionHost).withTransaction(async () => {
      await lock();
      const started = change();
      await isWaiting();
      await work();
      return { changing: started };
    });
    return changing;
  }

  it.each<[string, number, (userId: string) => Promise<unknown>]>([
    ['took the role of its user', 403, (id) => changeUser(id, { role: 'member' })],
    ['ended the login of its user', 401, (id) => service.database.query(END_SESSIONS, [id])],
  ])('is undone if the other one %s', async (_what, refused, work) => {
    const actor = await visitorWithRole(service, 'owner');
    const { id } = await addUser(service);
    const page = `/dashboard/users/${id}/change`;
    await actor.get(page);
    const change = () => actor.fill(page, { name: 'Changed', role: 'owner' });
    const { status } = await whileItWaits(change, () => work(actor.login.userId));
    expect(status).toBe(refused);
    expect(await users().find(id)).not.toMatchObject({ role: 'owner' });
  });

  const sql = (statement: string, id: string) => service.database.query(statement, [id]);
  const keyOf = async () => {
    const { token, stored } = await service.app
      .get(ApiKeysService)
      .create(service.development.clientId, { name: 'Waits', scopes: ['webhook_endpoints:write'] });
    rememberSecret(token);
    return { token, end: () => sql('UPDATE api_key SET revoked_at = now() WHERE id = $1', stored.id) };
  };
  const tokenOf = async (login: Login) => {
    const token = await accessToken(service, login);
    const form = { token, client_id: service.development.clientId };
    return { token, end: () => sendForm(service, '/oauth/revoke', form) };
  };

  it.each<[string, (login: Login) => Promise<Credentials>]>([
    ['login', async (login) => ({ login, end: () => sql(END_SESSIONS, login.userId) })],
    ['API key', keyOf],
    ['access token', tokenOf],
    [
      'access token, with all others of its user,',
      async (login) => ({ ...(await tokenOf(login)), end: () => users().endAccess(login.userId) }),
    ],
  ])('is undone if its %s ended', async (_what, begin) => {
    const { end, ...credentials } = await begin(await service.login('owner'));
    const url = `https://hooks.example.com/${randomUUID()}`;
    const body = { environment: 'development', url };
    const { status } = await whileItWaits(
      () => service.request('/webhook-endpoints/create', { ...credentials, body }),
      end,
      () => service.app.get(Transaction).lock(`webhook-endpoints:${service.development.clientId}`),
    );
    const stored = await service.database.query('SELECT FROM webhook_endpoint WHERE url = $1', [url]);
    expect([status, stored]).toEqual([401, []]);
  });

  it('also ends the grant that its user got meanwhile, if an operator disables the user', async () => {
    const { id } = await addUser(service);
    let grant = (): void => undefined;
    const granted = new Promise<void>((resolve) => (grant = resolve));
    // Begins outside of the transaction.
    const disabling = granted.then(() =>
      service.app.get(UserAdministrationService).setDisabledByOperator(id, true),
    );
    await service.app.get(TransactionHost).withTransaction(async () => {
      await users().lockUsersOf(service.organizationId);
      await service.app.get(Transaction).manager.insert(AccessGrant, {
        id: randomUUID(),
        userId: id,
        role: 'owner',
        reason: 'Stands in',
        createdAt: new Date(),
        createdBy: 'owner@example.com',
        expiresAt: new Date(Date.now() + HOUR),
      });
      grant();
      await Promise.race([isWaiting(), disabling]);
    });
    expect(await disabling).toBe(true);
    const inForce = 'SELECT FROM access_grant WHERE user_id = $1 AND revoked_at IS NULL';
    expect(await service.database.query(inForce, [id])).toEqual([]);
  });

  it('adds no user with an address whose domain was removed meanwhile', async () => {
    const actor = await visitorWithRole(service, 'owner');
    await actor.get(INVITATION);
    const [email, fields] = ['late@gone.example', { name: 'Late', role: 'viewer' }];
    const insert = `INSERT INTO allowlisted_domain (id, organization_id, domain, created_at)
      VALUES (gen_random_uuid(), $1, 'gone.example', now()), (gen_random_uuid(), $1, 'kept.example', now())`;
    await service.database.query(insert, [service.organizationId]);
    const { status } = await whileItWaits(
      () => actor.fill(INVITATION, { email, ...fields }),
      () => service.database.query(`DELETE FROM allowlisted_domain WHERE domain = 'gone.example'`),
    );
    await service.database.query('DELETE FROM allowlisted_domain');
    expect([
      status,
      await service.database.query('SELECT FROM dashboard_user WHERE email = $1', [email]),
    ]).toEqual([400, []]);
  });
});
