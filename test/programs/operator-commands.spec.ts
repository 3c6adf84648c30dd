import { WebhookPublisher } from '../../src/modules/webhooks/index.js';
import { COMMAND_TIMEOUT, startTestAppWithCommands, type Commands } from '../support/programs/commands.js';
import { addUser, sessionsOf } from '../support/pages/dashboard-users.js';
import { eventually } from '../support/eventually.js';
import { mailTo } from '../support/messages/mails.js';
import { Program } from '../support/programs/program.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import type { Login, TestApp } from '../support/test-app.js';
import { totpCode } from '../support/logins/totp.js';
import { BEHIND_PROXY, Visitor } from '../support/pages/visitor.js';
import { startReceiver, type WebhookReceiver } from '../support/webhooks/webhook-receiver.js';

import.meta.jest.setTimeout(COMMAND_TIMEOUT);

const SETUP = '/account/second-factor/setup';
const UNKNOWN = '4c9c1bd8-7a05-4dd9-9b2c-0a0e29f0aabb';

let service: TestApp;
let receiver: WebhookReceiver;
let owner: Login;
let commands: Commands;

beforeAll(async () => {
  receiver = await startReceiver();
  ({ service, commands } = await startTestAppWithCommands(
    { ...BEHIND_PROXY, WEBHOOK_TARGETS: 'any', WEBHOOK_RETRY_SECONDS: '0,0' },
    { backgroundWork: true },
  ));
  owner = await service.login('owner');
});
afterAll(async () => {
  await Program.endAll();
  await service.close();
  await receiver.close();
});

/** Returns what operators did to a target, oldest first. */
async function auditOf(target: string): Promise<string[]> {
  const rows = await service.database.query<{ entry: string }>(
    `SELECT action || ' ' || target_environment AS entry FROM audit_log
      WHERE target_name = $1 AND actor_name = 'operator' ORDER BY sequence`,
    [target],
  );
  return rows.map(({ entry }) => entry);
}

describe('mcs-admin organization list', () => {
  it('lists every organization', async () => {
    const { id } = await service.anotherOrganization();
    const listed = await commands.result<{ organization_id: string }[]>('organization list');
    const entry = (organizationId: string) => ({
      organization_id: organizationId,
      name: 'Test organization',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      activated_at: null,
    });
    expect(listed).toEqual(expect.arrayContaining([entry(service.organizationId), entry(id)]));
  });
});

describe('mcs-admin user', () => {
  const logIn = async (user: { email: string; password: string }): Promise<Visitor> => {
    const visitor = new Visitor(service);
    await visitor.logIn(user.email, user.password);
    return visitor;
  };

  /** Adds a user with a second factor. */
  const addProtectedUser = async () => {
    const user = await addUser(service);
    const visitor = await logIn(user);
    await visitor.get('/account/second-factor');
    await visitor.submit(SETUP);
    const page = await visitor.get(SETUP);
    const secret = (/<code class="secret">([A-Z2-7 ]+)</.exec(page.text)?.[1] ?? '').replaceAll(' ', '');
    rememberSecret(secret);
    const enabled = await visitor.submit('/account/second-factor/enable', {
      code: totpCode(secret, Date.now()),
    });
    expect(enabled.status).toBe(200);
    const codes = enabled.text.match(/\b[2-9A-Z]{5}-[2-9A-Z]{5}\b/g) ?? [];
    for (const code of codes) rememberSecret(code, code.replace('-', ''));
    const [recoveryCode] = codes;
    if (recoveryCode === undefined) throw new Error('The page has no recovery codes.');
    return { ...user, recoveryCode };
  };

  it('lists the users of one organization, without their secrets', async () => {
    const user = await addUser(service);
    const { id } = await service.anotherOrganization();
    const listed = await commands.result<object[]>(`user list --organization ${service.organizationId}`);
    expect(listed).toContainEqual({
      user_id: user.id,
      email: user.email,
      name: 'Ada',
      role: 'admin',
      has_password: true,
      has_second_factor: false,
      disabled_at: null,
      created_at: expect.any(String),
    });
    expect(await commands.result<object[]>(`user list --organization ${id}`)).toHaveLength(1);
  });

  it('disables and enables a user', async () => {
    const user = await addUser(service);
    const before = await logIn(user);
    const disabled = { user_id: user.id, email: user.email, changed: true };
    expect(await commands.result(`user disable --user ${user.id}`)).toEqual(disabled);
    expect(await sessionsOf(service, user)).toBe(0);
    expect((await before.get('/account')).location).toMatch(/^\/login/);
    const refused = new Visitor(service);
    expect((await refused.logIn(user.email, user.password)).status).toBe(403);
    expect(await commands.result(`user disable --user ${user.id}`)).toMatchObject({ changed: false });

    expect(await commands.result(`user enable --user ${user.id}`)).toMatchObject({ changed: true });
    expect((await (await logIn(user)).get('/account')).status).toBe(200);
    expect(await auditOf(user.email)).toEqual(['user.update production', 'user.update production']);
  });

  it('unlocks a user who entered too many wrong codes', async () => {
    const user = await addProtectedUser();
    const visitor = await logIn(user);
    await visitor.get('/login/second-factor');
    for (let attempt = 0; attempt < 5; attempt += 1)
      expect((await visitor.submit('/login/second-factor', { code: '000000' })).status).toBe(403);
    const proof = { recovery_code: user.recoveryCode };
    expect((await visitor.submit('/login/second-factor', proof)).status).toBe(429);
    expect(await commands.result(`user unlock --user ${user.id}`)).toMatchObject({ changed: true });
    expect((await visitor.submit('/login/second-factor', proof)).status).toBe(303);
    expect(await auditOf(user.email)).toEqual(['user.unlock production']);
  });

  it('resets two-factor authentication and passkeys, and notifies the user by email', async () => {
    const user = await addProtectedUser();
    await service.database.query(
      `INSERT INTO passkey (id, user_id, credential_id, public_key, counter, name, created_at)
         VALUES (gen_random_uuid(), $1, '1', '', 0, 'Laptop', now())`,
      [user.id],
    );
    expect(await commands.result(`user reset-two-factor --user ${user.id}`)).toMatchObject({
      changed: true,
    });
    await mailTo(service, user.email, 'Two-factor authentication was turned off');
    await mailTo(service, user.email, 'A passkey was removed from your account');
    expect(await service.database.query('SELECT FROM passkey WHERE user_id = $1', [user.id])).toEqual([]);
    expect((await (await logIn(user)).get('/account')).status).toBe(200);
    expect(await commands.result(`user reset-two-factor --user ${user.id}`)).toMatchObject({
      changed: false,
    });
    expect(await auditOf(user.email)).toEqual(['auth.two_factor_disable production']);
  });

  it.each(['disable', 'enable', 'unlock', 'reset-two-factor'])(
    'rejects an unknown user: %s',
    async (command) => {
      const call = `user ${command} --user`;
      await commands.expectError(`${call} ${UNKNOWN}`, `There is no user ${UNKNOWN}.`);
      await commands.expectError(`${call} nobody`, 'There is no user nobody.');
    },
  );
});

describe('mcs-admin endpoint', () => {
  it('pauses an endpoint, whose events wait until it is resumed', async () => {
    const url = `${receiver.url}/hooks/5f2b8c9d1e4a7b6c5d4e3f2a1b0c9d8e`;
    const { body } = await service.request('/webhook-endpoints/create', {
      body: { environment: 'development', url },
      login: owner,
    });
    const id = String(body['id']);
    const { clientId } = service.development;
    const publish = (): Promise<string> =>
      service.app.get(WebhookPublisher).publish(
        { clientId, environment: 'development' },
        {
          event: 'MERCHANT_STATUS_UPDATE',
          merchant: { id: 16, name: 'Netflix' },
          data: { type: 'link', status: 'UP' },
        },
      );
    const status = async () =>
      (await service.request(`/webhook-endpoints/${id}`, { login: owner })).body['status'];

    // The endpoint has no lane yet.
    expect(await commands.result(`endpoint resume --endpoint ${id}`)).toMatchObject({ changed: false });
    expect(await commands.result(`endpoint pause --endpoint ${id}`)).toEqual({
      webhook_endpoint_id: id,
      status: 'paused',
      changed: true,
    });
    expect(await commands.result(`endpoint pause --endpoint ${id}`)).toMatchObject({ changed: false });
    expect(await status()).toBe('paused');
    const paused = await publish();
    const [listed] = await commands.result<[{ url: string }]>(`endpoint list --client ${clientId}`);
    expect(listed).toMatchObject({ webhook_endpoint_id: id, status: 'paused', environment: 'development' });
    expect(listed.url).not.toContain('5f2b8c9d1e4a7b6c5d4e3f2a1b0c9d8e');
    // The worker has polled the queue several times by now.
    expect(receiver.arrivals).toHaveLength(0);

    expect(await commands.result(`endpoint resume --endpoint ${id}`)).toMatchObject({ status: 'enabled' });
    await eventually('the event arrives', () => receiver.arrivals.length === 1);
    expect(receiver.arrivals[0]?.headers['webhook-id']).toBe(paused);
    expect(await status()).toBe('enabled');
    expect(await auditOf(listed.url)).toEqual(['webhook.update development', 'webhook.update development']);
  });

  it.each(['pause', 'resume'])('rejects an unknown endpoint: %s', (command) =>
    commands.expectError(
      `endpoint ${command} --endpoint ${UNKNOWN}`,
      `There is no webhook endpoint ${UNKNOWN}.`,
    ),
  );
});
