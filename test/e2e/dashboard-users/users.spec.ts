import { randomBytes } from 'node:crypto';
import { Mailer } from '../../../src/infrastructure/messages/index.js';
import { auditedBy } from '../../support/logs/audited.js';
import {
  grantRole,
  openPage,
  renewLogins,
  submitForm,
  type FormResponse,
} from '../../support/pages/dashboard-forms.js';
import { logLines } from '../../support/logs/log-lines.js';
import { mailTo, sendEmails, tokenIn } from '../../support/messages/mails.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { useTestApp, type Login, useLogin } from '../../support/test-app.js';
import { Visitor } from '../../support/pages/visitor.js';

const OWNERS_ONLY = 'Only an owner may add, change or remove an owner.';
const LAST_OWNER = 'This is the last active owner of the organization: make another user an owner first.';
const COUNT_USERS = 'SELECT count(*)::integer AS count FROM dashboard_user WHERE organization_id = $1';

interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: string;
  readonly disabled: boolean;
  readonly invitation_pending: boolean;
}

const service = useTestApp();
const owner = useLogin(service, 'owner');
const admin = useLogin(service, 'admin');
beforeEach(() => renewLogins(service));
let number = 0;
const freshEmail = (): string => `person-${(number += 1)}@example.com`;

const PATH = '/dashboard/users';
const submit = (path: string, fields: Record<string, string>, login: Login) =>
  submitForm(service, login, `${PATH}/${path}`, fields);
const invite = (fields: Record<string, string>, login = owner) => submit('invitations/new', fields, login);
const newUser = (more: Record<string, string> = {}) => ({
  email: freshEmail(),
  name: 'Ada',
  role: 'member',
  ...more,
});
const update = (id: string, fields: Record<string, string>, login = owner) =>
  submit(`${id}/change`, fields, login);
const disable = (id: string, login = owner) => submit(`${id}/disable`, {}, login);
const enable = (id: string, login = owner) => submit(`${id}/enable`, {}, login);
const remove = (id: string, login = owner) => submit(`${id}/remove`, {}, login);
const list = (login = owner): Promise<User[]> =>
  service.database.query<User>(
    `SELECT id, email, name, role, disabled_at IS NOT NULL AS disabled, password_hash IS NULL AS invitation_pending
       FROM dashboard_user WHERE organization_id = $1`,
    [login.organizationId],
  );
const userOf = async ({ userId }: Pick<Login, 'userId'>, login = owner): Promise<User | undefined> =>
  (await list(login)).find(({ id }) => id === userId);
/** 303 to the login if the session has ended. */
const statusOf = async (login: Login): Promise<number> => (await openPage(service, login, '/account')).status;
const expectRefused = ({ status, problem }: FormResponse, message: string, expected = 400) =>
  expect([status, problem]).toEqual([expected, message]);

/** Creates an organization with this number of active owners, all logged in, and no other users. */
async function ownersOf(count: number): Promise<Login[]> {
  const { id } = await service.anotherOrganization();
  await service.database.query('DELETE FROM dashboard_user WHERE organization_id = $1', [id]);
  const owners: Login[] = [];
  for (let index = 0; index < count; index += 1) owners.push(await service.login('owner', id));
  return owners;
}

describe('An invitation', () => {
  it('adds the user with a lowercase email and emails a link to set a password', async () => {
    const { email, ...rest } = newUser();
    const { status, id: userId } = await invite({ email: email.toUpperCase(), ...rest });
    expect(status).toBe(303);
    const user = { id: userId, email, ...rest, disabled: false, invitation_pending: true };
    expect(await userOf({ userId })).toEqual(user);
    const token = tokenIn(await mailTo(service, email, 'Your invitation'));
    const password = randomBytes(12).toString('hex');
    rememberSecret(password);
    const link = `/password-reset/confirm?token=${token}`;
    await new Visitor(service).fill(link, { token, new_password: password }, '/password-reset/confirm');
    expect((await new Visitor(service).logIn(email, password)).location).toBe('/dashboard');
    expect(await userOf({ userId })).toEqual({ ...user, invitation_pending: false });
  });

  it.each<[string, Record<string, string>]>([
    ['The “Email address” field is required.', { email: ' ' }],
    ['The “Email address” field must be a valid email address.', { email: 'ada' }],
    ['The “Email address” field must be a valid email address.', { email: 'a@b@example.com' }],
    [
      'The “Email address” field must not be greater than 254 characters.',
      { email: `${'a'.repeat(250)}@example.com` },
    ],
    ['The “Name” field is required.', { name: '' }],
    ['The “Name” field must not be greater than 256 characters.', { name: 'x'.repeat(257) }],
    ['The “Role” field is required.', { role: '' }],
    ['The selected “Role” is invalid. Choose one from the list.', { role: 'Owner' }],
  ])('rejects invalid input with "%s"', async (message, change) => {
    expectRefused(await invite(newUser(change)), message);
  });

  it('rejects an email that the organization already has, in any case, even of a disabled user', async () => {
    const body = newUser();
    const { id } = await invite(body);
    const taken = `${body.email} is already a user of your organization.`;
    expectRefused(await invite(body), taken);
    expectRefused(await invite({ ...body, email: body.email.toUpperCase() }), taken);
    await disable(id);
    expectRefused(await invite(body), taken);
  });

  it('does not reveal accounts in other organizations', async () => {
    const [otherOwner] = await ownersOf(1);
    const { status, id } = await invite(newUser({ email: otherOwner?.email ?? '' }));
    expect([status, await userOf({ userId: id })]).toMatchObject([303, { invitation_pending: true }]);
    const there = await userOf(otherOwner as Login, otherOwner);
    expect(there).toMatchObject({ invitation_pending: false });
  });

  it('accepts exactly 10 of 30 concurrent invitations to a mailbox, however it is spelled', async () => {
    const [otherOwner] = (await ownersOf(1)) as [Login];
    const mailbox = randomBytes(6).toString('hex');
    const spelling = (index: number) => (index % 2 === 0 ? mailbox : mailbox.toUpperCase());
    const inviteAt = (email: string, login = otherOwner) => invite(newUser({ email }), login);
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_, index) => inviteAt(`${spelling(index)}+${index}@example.com`)),
    );
    expect(responses.filter(({ status }) => status === 303)).toHaveLength(10);
    // Under load, a request may also be told to try again.
    expect(responses.filter(({ status }) => status === 429 || status === 503)).toHaveLength(20);
    expect((await inviteAt(`other-${mailbox}@example.com`)).status).toBe(303);
    expect((await inviteAt(`${mailbox}@example.com`, owner)).status).toBe(303);
  });

  it('counts invitations of users who were removed, but no requests that fail', async () => {
    const [otherOwner] = (await ownersOf(1)) as [Login];
    const body = newUser();
    const statuses: number[] = [];
    for (let index = 0; index < 11; index += 1) {
      const added = await invite(body, otherOwner);
      statuses.push(added.status);
      if (added.status !== 303) {
        expect(added.problem).toBe('There were too many invitations. Try again in 24 hours.');
        continue;
      }
      if (index < 9) expect((await invite(body, otherOwner)).status).toBe(400);
      await remove(added.id, otherOwner);
    }
    expect(statuses).toEqual([...Array<number>(10).fill(303), 429]);
  });

  it('counts an invitation that is refused toward no limit', async () => {
    const [otherOwner] = (await ownersOf(1)) as [Login];
    const body = newUser();
    const countInOrganizations = (points: number) =>
      service.database.query(
        `UPDATE attempt_count SET points = ${points} WHERE key LIKE 'invitation-organization:%'`,
      );
    expect((await invite(newUser(), otherOwner)).status).toBe(303);
    await countInOrganizations(1_000);
    for (let index = 0; index < 12; index += 1) expect((await invite(body, otherOwner)).status).toBe(429);
    await countInOrganizations(1);
    expect((await invite(body, otherOwner)).status).toBe(303);
  });

  it('adds an email once for 20 concurrent requests', async () => {
    const body = newUser();
    const responses = await Promise.all(Array.from({ length: 20 }, () => invite(body)));
    expect(responses.filter(({ status }) => status === 303)).toHaveLength(1);
    for (const response of responses.filter(({ status }) => ![303, 429].includes(status)))
      expectRefused(response, `${body.email} is already a user of your organization.`);
    expect((await list()).filter(({ email }) => email === body.email)).toHaveLength(1);
  });

  it('requires an allowlisted domain if the organization has any', async () => {
    const otherOwner = (await ownersOf(1))[0] as Login;
    await submitForm(service, otherOwner, '/dashboard/allowed-domains/new', { domain: 'Bücher.example' });
    const refusal = 'The “Email address” field must belong to an allowed domain.';
    for (const email of [
      'a@example.com',
      'a@mail.bücher.example',
      'a@bücher.example.com',
      'a@xbücher.example',
    ])
      expectRefused(await invite({ ...newUser(), email }, otherOwner), refusal);
    const invited: string[] = [];
    for (const email of ['a@bücher.example', 'B@XN--BCHER-KVA.example']) {
      const { status, id } = await invite({ ...newUser(), email }, otherOwner);
      expect(status).toBe(303);
      invited.push(id);
    }
    const [domain] = await service.database.query<{ id: string }>(
      'SELECT id FROM allowlisted_domain WHERE organization_id = $1',
      [otherOwner.organizationId],
    );
    await submitForm(service, otherOwner, '/dashboard/allowed-domains/new', { domain: 'other.example' });
    await submitForm(service, otherOwner, `/dashboard/allowed-domains/${domain?.id}/remove`);
    const message = 'The domain of the user’s email address is no longer allowed.';
    expectRefused(await submit(`${invited[0]}/invitation`, {}, otherOwner), message);
    await service.database.query('DELETE FROM allowlisted_domain WHERE organization_id = $1', [
      otherOwner.organizationId,
    ]);
    expect((await invite(newUser(), otherOwner)).status).toBe(303);
  });

  it('accepts exactly 1,000 users, also under concurrent requests', async () => {
    const otherOwner = (await ownersOf(1))[0] as Login;
    await service.database.query(
      `INSERT INTO dashboard_user (id, organization_id, email, name, role, created_at)
       SELECT gen_random_uuid(), $1, 'filler-' || n || '@example.com', 'Filler', 'member', now()
         FROM generate_series(1, 997) n`,
      [otherOwner.organizationId],
    );
    const responses = await Promise.all(Array.from({ length: 5 }, () => invite(newUser(), otherOwner)));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([303, 303, 400, 400, 400]);
    for (const response of responses.filter(({ status }) => status === 400)) {
      const message = 'The organization already has the maximum of 1000 users.';
      expectRefused(response, message);
    }
    expect(await list(otherOwner)).toHaveLength(1_000);
  });

  it('keeps the user when the email cannot be sent, and logs the failure without the address', async () => {
    const mailer = service.app.get(Mailer);
    Object.assign(mailer, { send: () => Promise.reject(Object.assign(new Error('no'), { code: 'EDNS' })) });
    const body = newUser();
    const { status } = await invite(body);
    await sendEmails(service);
    Reflect.deleteProperty(mailer, 'send');
    expect(status).toBe(303);
    const log = JSON.stringify(logLines());
    expect(log).toContain('An email could not be sent (EDNS)');
    expect(log).not.toContain(body.email);
  });
});

describe('A change of a user', () => {
  it('changes the given fields only', async () => {
    const member = await service.login('member');
    expect((await update(member.userId, { name: 'Grace' })).status).toBe(303);
    expect(await userOf(member)).toMatchObject({ name: 'Grace', role: 'member' });
    expect((await update(member.userId, { role: 'admin', name: '' })).status).toBe(303);
    expect(await userOf(member)).toMatchObject({ name: 'Grace', role: 'admin', disabled: false });
    expect((await openPage(service, member, PATH)).status).toBe(200);
  });

  it('records nothing when nothing changes', async () => {
    const { userId } = await service.login('member');
    const entries = await auditedBy(service, async () => {
      for (const fields of [{}, { unknown: '1' }, { role: 'member' }])
        expect((await update(userId, fields as Record<string, string>)).status).toBe(303);
      expect((await enable(userId)).status).toBe(303);
    });
    expect(entries).toEqual([]);
  });

  it.each<[string, Record<string, string>]>([
    ['The “Name” field must not be greater than 256 characters.', { name: 'x'.repeat(257) }],
    ['The selected “Role” is invalid. Choose one from the list.', { role: 'root' }],
  ])('rejects invalid input with "%s"', async (message, fields) => {
    const { userId } = await service.login('member');
    expectRefused(await update(userId, fields), message);
  });

  it('ends all sessions of a disabled user immediately, and allows a new login after enabling', async () => {
    const member = await service.login('member');
    expect(await statusOf(member)).toBe(200);
    expect((await disable(member.userId)).status).toBe(303);
    expect(await userOf(member)).toMatchObject({ disabled: true });
    expect(await statusOf(member)).toBe(303);
    expect((await enable(member.userId)).status).toBe(303);
    expect(await userOf(member)).toMatchObject({ disabled: false });
    // Enabling the user does not restore the session.
    expect(await statusOf(member)).toBe(303);
  });

  it('rejects changes to one’s own role or access', async () => {
    for (const login of [owner, admin]) {
      const { role } = (await userOf(login)) as User;
      expectRefused(
        await update(login.userId, { role: 'member' }, login),
        'You cannot change your own role.',
      );
      expectRefused(await disable(login.userId, login), 'You cannot disable yourself.');
      expect((await update(login.userId, { name: 'Myself', role }, login)).status).toBe(303);
    }
  });
});

describe('The removal of a user', () => {
  it('ends the user’s sessions immediately and deletes the user’s data', async () => {
    const member = await service.login('member');
    expect((await remove(member.userId)).status).toBe(303);
    expect(await statusOf(member)).toBe(303);
    expect(await userOf(member)).toBeUndefined();
    expect((await remove(member.userId)).status).toBe(404);
  });

  it('rejects removing oneself', async () => {
    for (const login of [owner, admin])
      expectRefused(await remove(login.userId, login), 'You cannot remove yourself.');
  });

  it('removes and records once for 20 concurrent requests', async () => {
    const member = await service.login('member');
    const entries = await auditedBy(service, async () => {
      const responses = await Promise.all(Array.from({ length: 20 }, () => remove(member.userId)));
      expect(responses.map(({ status }) => status).toSorted()).toEqual([303, ...Array<number>(19).fill(404)]);
    });
    expect(entries).toEqual([`user.remove success ${member.email}`]);
  });
});

describe('Admins and owners', () => {
  it('an admin cannot change or add owners, and the attempt is recorded', async () => {
    const other = await service.login('owner');
    const member = await service.login('member');
    const body = newUser({ role: 'owner' });
    const entries = await auditedBy(service, async () => {
      expectRefused(await invite(body, admin), OWNERS_ONLY, 403);
      expectRefused(await update(member.userId, { role: 'owner' }, admin), OWNERS_ONLY, 403);
      expectRefused(await update(other.userId, { name: 'Renamed' }, admin), OWNERS_ONLY, 403);
      expectRefused(await disable(other.userId, admin), OWNERS_ONLY, 403);
      expectRefused(await update(admin.userId, { role: 'owner' }, admin), OWNERS_ONLY, 403);
      expectRefused(await remove(other.userId, admin), OWNERS_ONLY, 403);
    });
    expect(entries).toEqual([
      `user.add denied ${body.email}`,
      `user.update denied ${member.email}`,
      `user.update denied ${other.email}`,
      `user.update denied ${other.email}`,
      `user.update denied ${admin.email}`,
      `user.remove denied ${other.email}`,
    ]);
    expect(await userOf(other)).toMatchObject({ name: 'The owner', role: 'owner', disabled: false });
    expect(await userOf(member)).toMatchObject({ role: 'member' });
    expect((await list()).map(({ email }) => email)).not.toContain(body.email);
  });

  it('an admin cannot change a user who is owner for the moment, and the attempt is recorded', async () => {
    const deputy = await service.login('member');
    const { id: invitedId } = await invite(newUser());
    const invited = (await list()).find(({ id }) => id === invitedId) as User;
    for (const user of [deputy, invited]) await grantRole(service, owner, user, 'owner');
    const unlink = (id: string, login: Login) => submit(`${id}/unlink`, {}, login);
    const inviteAgain = (id: string, login: Login) => submit(`${id}/invitation`, {}, login);
    const change = (id: string, login: Login) => update(id, { name: 'Renamed' }, login);
    const entries = await auditedBy(service, async () => {
      for (const action of [change, disable, unlink, remove])
        expectRefused(await action(deputy.userId, admin), OWNERS_ONLY, 403);
      expectRefused(await inviteAgain(invitedId, admin), OWNERS_ONLY, 403);
    });
    expect(entries).toEqual([
      `user.update denied ${deputy.email}`,
      `user.update denied ${deputy.email}`,
      `auth.provider_unlink denied ${deputy.email}`,
      `user.remove denied ${deputy.email}`,
      `user.invite denied ${invited.email}`,
    ]);
    expect((await openPage(service, admin, `${PATH}/${deputy.userId}`)).text).toContain('Only owners can');
    await service.database.query('UPDATE access_grant SET expires_at = now()');
    for (const action of [change, disable, unlink, remove])
      expect((await action(deputy.userId, admin)).status).toBe(303);
  });

  it('an admin manages admins and members', async () => {
    const { status, id } = await invite(newUser({ role: 'admin' }), admin);
    expect(status).toBe(303);
    expect((await update(id, { role: 'member' }, admin)).status).toBe(303);
    expect((await remove(id, admin)).status).toBe(303);
  });

  it('an owner manages owners', async () => {
    const other = await service.login('owner');
    expect((await disable(other.userId)).status).toBe(303);
    expect((await enable(other.userId)).status).toBe(303);
    for (const role of ['admin', 'owner']) expect((await update(other.userId, { role })).status).toBe(303);
    expect((await remove(other.userId)).status).toBe(303);
  });
});

describe('The last active owner', () => {
  /** Creates an organization with one owner, and an admin with a grant of the role owner. */
  async function lastOwner(): Promise<[last: Login, deputy: Login]> {
    const last = (await ownersOf(1))[0] as Login;
    const deputy = await service.login('admin', last.organizationId);
    await grantRole(service, last, deputy, 'owner');
    return [last, deputy];
  }

  it('cannot be removed, disabled or demoted', async () => {
    const [last, deputy] = await lastOwner();
    // Invited and disabled owners do not count.
    await invite(newUser({ role: 'owner' }), last);
    const disabled = await service.login('owner', last.organizationId);
    await disable(disabled.userId, last);
    expectRefused(await update(last.userId, { role: 'admin' }, deputy), LAST_OWNER);
    expectRefused(await disable(last.userId, deputy), LAST_OWNER);
    expectRefused(await remove(last.userId, deputy), LAST_OWNER);
    expect((await update(last.userId, { name: 'Still here' }, deputy)).status).toBe(303);
    await enable(disabled.userId, last);
    expect((await remove(last.userId, deputy)).status).toBe(303);
  });

  it.each<[string, (target: Login, actor: Login) => Promise<FormResponse>]>([
    ['demote', ({ userId }, actor) => update(userId, { role: 'member' }, actor)],
    ['disable', ({ userId }, actor) => disable(userId, actor)],
    ['remove', ({ userId }, actor) => remove(userId, actor)],
  ])('remains when 20 owners %s each other concurrently', async (_what, act) => {
    const owners = await ownersOf(20);
    const responses = await Promise.all(
      owners.map((target, index) => act(target, owners[(index + 1) % owners.length] as Login)),
    );
    // An owner who lost access before the own request ran is sent to the login, or refused as a member.
    for (const { status } of responses) expect([303, 400, 401, 403]).toContain(status);
    const [row] = await service.database.query<{ count: number }>(
      `${COUNT_USERS} AND role = 'owner' AND disabled_at IS NULL`,
      [owners[0]?.organizationId],
    );
    expect(row?.count).toBeGreaterThanOrEqual(1);
    const done = responses.filter(({ location }) => location?.includes('?done='));
    expect(done.length).toBe(20 - (row?.count ?? 0));
  });

  it('remains when 20 concurrent requests remove the last two', async () => {
    const [last, deputy] = await lastOwner();
    const other = await service.login('owner', last.organizationId);
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => disable((index % 2 === 0 ? last : other).userId, deputy)),
    );
    expect(responses.filter(({ status }) => status === 400).length).toBeGreaterThanOrEqual(9);
    const active = (await list(deputy)).filter(({ role, disabled }) => role === 'owner' && !disabled);
    expect(active).toHaveLength(1);
  });
});

describe('The list of users', () => {
  let admin: Login;
  beforeAll(async () => {
    admin = (await ownersOf(1))[0] as Login;
    // Several users were added at the same time.
    await service.database.query(
      `INSERT INTO dashboard_user (id, organization_id, email, name, role, password_hash, disabled_at, totp_enabled_at, created_at)
       SELECT gen_random_uuid(), $1, 'listed-' || n || '@example.org', CASE n WHEN 7 THEN 'Ägir 100%' ELSE 'User ' || n END,
              CASE WHEN n % 2 = 0 THEN 'viewer' ELSE 'member' END, CASE WHEN n % 3 = 0 THEN 'not a hash' END,
              CASE WHEN n % 5 = 0 THEN now() END, CASE WHEN n % 6 = 0 THEN now() END,
              date_trunc('milliseconds', now()) + n / 20 * interval '1 ms'
         FROM generate_series(1, 60) n`,
      [admin.organizationId],
    );
  });

  const emailsIn = (text: string): string[] => text.match(/listed-\d+@example\.org(?=<\/td>)/g) ?? [];

  it('has each user on one of its pages', async () => {
    const first = await openPage(service, admin, PATH);
    const next = /href="([^"]+)">Next page/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const second = await openPage(service, admin, next);
    const found = [emailsIn(first.text), emailsIn(second.text)];
    expect(found.map(({ length }) => length)).toEqual([49, 11]);
    expect(new Set(found.flat()).size).toBe(60);
    expect([first.text, second.text].map((text) => />(\d+ users)</.exec(text)?.[1])).toEqual(
      Array(2).fill('61 users'),
    );
    expect((await openPage(service, admin, `${PATH}?cursor=${'x'.repeat(80)}`)).status).toBe(400);
  });

  it.each<[filters: string, count: number]>([
    ['search=äGIR', 1],
    ['search=%20100%25%20', 1],
    ['search=_isted', 0],
    ['search=listed-1', 11],
    ['role=viewer', 30],
    ['status=disabled', 12],
    ['status=invited', 32],
    ['status=active&search=listed', 16],
    ['two_factor=on', 10],
    ['two_factor=off&role=member&search=user', 29],
  ])('has those who match the filters: %s', async (filters, count) => {
    const { text } = await openPage(service, admin, `${PATH}?${filters}`);
    expect(emailsIn(text)).toHaveLength(count);
    if (count > 0) expect(text).toContain(`>${count} of 61 users<`);
  });

  it('offers each status as a filter', async () => {
    const { text } = await openPage(service, admin, `${PATH}?status=disabled`);
    const [, options = ''] = /<select[^>]* name="status"[^>]*>(.*?)<\/select>/s.exec(text) ?? [];
    expect([...options.matchAll(/value="(\w+)"[^>]*>([^<]+)</g)].map(([, ...option]) => option)).toEqual([
      ['active', 'Active'],
      ['invited', 'Invited'],
      ['disabled', 'Disabled'],
    ]);
  });
});
