import { addUser, auditOf, type TestUser } from '../../support/pages/dashboard-users.js';
import { startFlow } from '../../support/logins/device-flow.js';
import { eventually } from '../../support/eventually.js';
import { countedAttempts, whileDiskIsFull } from '../../support/database/full-disk.js';
import { GOOD, newLink } from '../../support/merchants/sign-in-links.js';
import { useTestApp } from '../../support/test-app.js';
import { BEHIND_PROXY, Visitor, type PageResponse } from '../../support/pages/visitor.js';

const service = useTestApp(BEHIND_PROXY);

interface Attempt {
  readonly send: () => Promise<PageResponse>;
  readonly user?: TestUser;
}

async function atLogin(passwordOf: (user: TestUser) => string): Promise<Attempt> {
  const [user, visitor] = [await addUser(service), new Visitor(service)];
  await visitor.get('/login');
  return { user, send: () => visitor.submit('/login', { email: user.email, password: passwordOf(user) }) };
}

/** @param form with the action, which the user opens at `page` */
async function loggedIn(
  page: string,
  form: (user: TestUser) => Promise<Record<string, string>> | Record<string, string>,
): Promise<Attempt> {
  const [user, visitor] = [await addUser(service), new Visitor(service)];
  await visitor.logIn(user.email, user.password);
  const fields = await form(user);
  await visitor.get(page);
  return { user, send: () => visitor.submit(page, fields) };
}

async function withoutLogin(page: string, action: string, fields: Record<string, string>): Promise<Attempt> {
  const visitor = new Visitor(service);
  await visitor.get(page);
  return { send: () => visitor.submit(action, fields) };
}

const NEW = { new_password: 'a password of many words', new_password_repeated: 'a password of many words' };

/** The attempts of people that are limited, with the tables that the service writes after it has counted the attempt. */
const ATTEMPTS: readonly (readonly [string, readonly string[], () => Promise<Attempt>, number])[] = [
  ['a login', ['dashboard_session'], () => atLogin(({ password }) => password), 303],
  ['a login with a wrong password', ['audit_log'], () => atLogin(() => 'wrong password'), 403],
  [
    'a wrong current password',
    ['audit_log'],
    () => loggedIn('/account/password', () => ({ current_password: 'wrong', ...NEW })),
    403,
  ],
  [
    'the code of a device',
    ['device_authorization'],
    () => loggedIn('/device', async () => ({ user_code: (await startFlow(service)).user_code })),
    303,
  ],
  [
    'a request for a new password',
    ['password_reset_request'],
    () => withoutLogin('/password-reset', '/password-reset', { email: 'ada@example.com' }),
    200,
  ],
  [
    'a challenge for a passkey',
    ['passkey_challenge'],
    () => withoutLogin('/login', '/login/passkey/options', {}),
    201,
  ],
];

describe('A failure of the service', () => {
  it.each(ATTEMPTS)(
    'does not count as %s of the user, who can repeat it',
    async (_name, tables, prepare, status) => {
      const { send, user } = await prepare();
      const before = await countedAttempts(service);
      const audited = user && (await auditOf(service, user));
      await whileDiskIsFull(service, tables, async () => expect((await send()).status).toBe(503));
      expect(await countedAttempts(service)).toBe(before);
      expect(user && (await auditOf(service, user))).toEqual(audited);
      expect((await send()).status).toBe(status);
    },
  );

  it('does not count once the database can take the attempt back', async () => {
    const { send } = await atLogin(({ password }) => password);
    const before = await countedAttempts(service);
    const start = performance.now();
    await service.database.query(
      `CREATE FUNCTION no_refund() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = 'disk_full'; END $$`,
    );
    await service.database.query(
      `CREATE TRIGGER no_refund BEFORE UPDATE ON attempt_count FOR EACH ROW
         WHEN (NEW.points < OLD.points) EXECUTE FUNCTION no_refund()`,
    );
    await whileDiskIsFull(service, ['dashboard_session'], async () =>
      expect((await send()).status).toBe(503),
    );
    // The response does not wait for the database.
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(await countedAttempts(service)).toBeGreaterThan(before);
    await service.database.query('DROP FUNCTION no_refund() CASCADE');
    await eventually('the attempt is taken back', async () => (await countedAttempts(service)) === before);
    expect((await send()).status).toBe(303);
  });

  it('leaves the first refusal beyond a limit to be audited', async () => {
    const { send, user } = await loggedIn('/account/password', () => ({ current_password: 'wrong', ...NEW }));
    for (let attempt = 0; attempt < 10; attempt += 1) expect((await send()).status).toBe(403);
    await whileDiskIsFull(service, ['audit_log'], async () => expect((await send()).status).toBe(503));
    expect((await send()).status).toBe(429);
    const audited = await auditOf(service, user as TestUser);
    expect(audited.filter((entry) => entry === 'auth.password_change denied')).toHaveLength(1);
  });

  it('does not use up an attempt of a sign-in link', async () => {
    const { path, id } = await newLink(service);
    const visitor = new Visitor(service);
    await visitor.get(path);
    const attempts = async () =>
      (await service.database.query('SELECT attempts FROM sign_in_link WHERE id = $1', [id]))[0];
    await whileDiskIsFull(service, ['session'], async () =>
      expect((await visitor.submit(path, GOOD)).status).toBe(503),
    );
    expect(await attempts()).toEqual({ attempts: 0 });
    expect((await visitor.submit(path, GOOD)).status).toBe(303);
  });
});
