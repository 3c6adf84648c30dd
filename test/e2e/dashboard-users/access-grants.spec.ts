import { DAY, SECOND } from '../../../src/infrastructure/time/index.js';
import { UserAdministrationService } from '../../../src/modules/dashboard-users/index.js';
import { moveClock } from '../../support/clock.js';
import { auditedBy } from '../../support/logs/audited.js';
import { openPage, renewLogins, submitForm, type FormResponse } from '../../support/pages/dashboard-forms.js';
import { useTestApp, type Login, useLogin } from '../../support/test-app.js';

/** Seconds. */
const ONE_DAY = DAY / SECOND;
const OWNERS_ONLY = 'Only an owner may grant or revoke the role owner.';

interface Grant {
  readonly id: string;
  readonly role: string;
  readonly reason: string;
  readonly created_at: Date;
  readonly created_by: string;
  readonly expires_at: Date;
  readonly revoked_at: Date | null;
}

const service = useTestApp();
const owner = useLogin(service, 'owner');
const admin = useLogin(service, 'admin');
beforeEach(() => renewLogins(service));

const PATH = '/dashboard/access-grants';
const grant = ({ email }: Pick<Login, 'email'>, more: Record<string, string> = {}, login = owner) => {
  const fields = { email, role: 'admin', reason: 'Stands in', expires_in: String(ONE_DAY), ...more };
  return submitForm(service, login, `${PATH}/new`, fields);
};
const revoke = (id: string, login = owner) => submitForm(service, login, `${PATH}/${id}/revoke`);
/** Returns the newest grant of a user. */
const grantOf = async ({ userId }: Login): Promise<Grant> => {
  const [row] = await service.database.query<Grant>(
    'SELECT * FROM access_grant WHERE user_id = $1 ORDER BY created_at DESC LIMIT 1',
    [userId],
  );
  return row as Grant;
};
const mayManage = async (login: Login): Promise<boolean> =>
  (await openPage(service, login, '/dashboard/users')).status === 200;
const expectRefused = ({ status, problem }: FormResponse, message: string, expected = 400) =>
  expect([status, problem]).toEqual([expected, message]);

describe('An access grant', () => {
  it('is shown as the temporary role if it is the highest, however many grants others have', async () => {
    const { userId, email } = await service.login('member');
    await grant({ email }, { role: 'owner', expires_in: String(7 * ONE_DAY) });
    await grant({ email });
    const other = await service.login('member');
    await service.database.query(
      `INSERT INTO access_grant (id, user_id, role, reason, created_at, created_by, expires_at)
       SELECT gen_random_uuid(), $1, 'admin', 'New', now() + interval '1 hour', 'a@example.com', now() + interval '1 day'
         FROM generate_series(1, 200) n`,
      [other.userId],
    );
    const { text } = await openPage(service, owner, `/dashboard/users?search=${email}`);
    expect(text).toContain('Member (temporarily Owner)');
    expect((await openPage(service, owner, `/dashboard/users/${userId}`)).text).toContain('Owner until');
  });

  it('gives a member the rights of an admin until it expires', async () => {
    const member = await service.login('member');
    expect(await mayManage(member)).toBe(false);
    expect((await grant(member)).status).toBe(303);
    const granted = await grantOf(member);
    expect(granted).toMatchObject({
      role: 'admin',
      reason: 'Stands in',
      created_by: owner.email,
      revoked_at: null,
    });
    expect(granted.expires_at.getTime() - granted.created_at.getTime()).toBe(DAY);
    expect(await mayManage(member)).toBe(true);

    // The session ends before the grant, so log in again.
    await service.database.query(
      `UPDATE dashboard_session SET expires_at = '2100-01-01', authenticated_at = now() + interval '1 day'`,
    );
    using _clock = moveClock(service, DAY + SECOND);
    expect(await mayManage(member)).toBe(false);
    const entries = await auditedBy(service, () => revoke(granted.id));
    expect(entries).toEqual([]);
    expect(await grantOf(member)).toEqual(granted);
  });

  it('can be revoked, once', async () => {
    const member = await service.login('member');
    await grant(member);
    const { id } = await grantOf(member);
    const entries = await auditedBy(service, async () => {
      const responses = await Promise.all(Array.from({ length: 20 }, () => revoke(id)));
      for (const { status } of responses) expect(status).toBe(303);
    });
    expect(entries).toEqual([`access_grant.revoke success ${member.email}`]);
    const revoked = await grantOf(member);
    expect(revoked.revoked_at).not.toBeNull();
    expect((await revoke(id)).status).toBe(303);
    expect(await grantOf(member)).toEqual(revoked);
    expect(await mayManage(member)).toBe(false);
  });

  it('can be given up by its user', async () => {
    const member = await service.login('member');
    await grant(member);
    expect((await revoke((await grantOf(member)).id, member)).status).toBe(303);
    expect((await grantOf(member)).revoked_at).not.toBeNull();
  });

  it.each<[string, (member: Login) => Promise<unknown>]>([
    [
      'with a new role',
      ({ userId }) =>
        submitForm(service, owner, `/dashboard/users/${userId}/change`, { name: 'Ada', role: 'viewer' }),
    ],
    [
      'when its user is disabled',
      ({ userId }) => submitForm(service, owner, `/dashboard/users/${userId}/disable`),
    ],
    [
      'when an operator disables its user',
      ({ userId }) => service.app.get(UserAdministrationService).setDisabledByOperator(userId, true),
    ],
  ])('ends %s, so that it does not come back later', async (_when, change) => {
    const member = await service.login('member');
    await grant(member, { role: 'owner' });
    const entries = await auditedBy(service, () => change(member));
    expect(entries).toContain(`access_grant.revoke success ${member.email}`);
    expect((await grantOf(member)).revoked_at).not.toBeNull();
    await service.app.get(UserAdministrationService).setDisabledByOperator(member.userId, false);
    expect(await mayManage(member)).toBe(false);
  });

  it('stays if only the name of its user changes', async () => {
    const member = await service.login('member');
    await grant(member);
    const fields = { name: 'Grace', role: 'member' };
    await submitForm(service, owner, `/dashboard/users/${member.userId}/change`, fields);
    expect(await mayManage(member)).toBe(true);
  });

  it('of the role owner is granted and revoked by owners only', async () => {
    const member = await service.login('member');
    const { email } = member;
    const entries = await auditedBy(service, async () => {
      expectRefused(await grant(member, { role: 'owner' }, admin), OWNERS_ONLY, 403);
      await grant(member, { role: 'owner' });
      const { id } = await grantOf(member);
      expectRefused(await revoke(id, admin), OWNERS_ONLY, 403);
      expect((await grantOf(member)).revoked_at).toBeNull();
      expect((await revoke(id)).status).toBe(303);
    });
    expect(entries).toEqual([
      `access_grant.create denied ${email}`,
      `access_grant.create success ${email}`,
      `access_grant.revoke denied ${email}`,
      `access_grant.revoke success ${email}`,
    ]);
  });

  it('of the role admin is granted and revoked by admins', async () => {
    const member = await service.login('member');
    await grant(member, {}, admin);
    expect((await revoke((await grantOf(member)).id, admin)).status).toBe(303);
  });

  it('is rejected for users who already have the role', async () => {
    const enough = 'The user already has this role or a higher one.';
    expectRefused(await grant(await service.login('admin')), enough);
    expectRefused(await grant(await service.login('owner')), enough);
    expectRefused(await grant(await service.login('owner'), { role: 'owner' }), enough);
    expect((await grant(await service.login('admin'), { role: 'owner' })).status).toBe(303);
  });

  it('cannot be granted to oneself or extended by oneself', async () => {
    const member = await service.login('member');
    const refusal = 'You cannot grant access to yourself.';
    expectRefused(await grant(admin, {}, admin), refusal);
    await grant(member);
    expectRefused(await grant(member, { expires_in: String(7 * ONE_DAY) }, member), refusal);
  });

  it('is rejected for disabled users, whose rights must not come back', async () => {
    const member = await service.login('member');
    await service.database.query('UPDATE dashboard_user SET disabled_at = now() WHERE id = $1', [
      member.userId,
    ]);
    const refusal = 'The user is disabled: a grant would come into force when somebody enables the user.';
    expectRefused(await grant(member), refusal);
  });

  it('is rejected for users of other organizations and unknown users', async () => {
    const { id } = await service.anotherOrganization();
    const outsider = await service.login('member', id);
    for (const user of [outsider, { email: 'nobody@example.com' }])
      expectRefused(await grant(user), 'No user of your organization has this email address.');
  });

  it.each<[string, Record<string, string>]>([
    ['The “Role” field is required.', { role: '' }],
    ['The selected “Role” is invalid. Choose one from the list.', { role: 'member' }],
    ['The “Reason” field is required.', { reason: '  ' }],
    ['The “Reason” field must not be greater than 256 characters.', { reason: 'x'.repeat(257) }],
    ['The “For” field must be an integer.', { expires_in: '300.5' }],
    ['The “For” field must be at least 300.', { expires_in: '299' }],
    ['The “For” field must not be greater than 604800.', { expires_in: '604801' }],
  ])('is rejected with "%s"', async (message, change) => {
    const member = await service.login('member');
    expectRefused(await grant(member, change), message);
  });

  it.each([300, 604_800])('lasts %d seconds', async (seconds) => {
    const expires_in = String(seconds);
    expect((await grant(await service.login('member'), { expires_in })).status).toBe(303);
  });

  it('is listed with the active grants first', async () => {
    const member = await service.login('member');
    await grant(member);
    await service.database.query(
      `INSERT INTO access_grant (id, user_id, role, reason, created_at, created_by, expires_at)
       SELECT gen_random_uuid(), $1, 'admin', 'Old', now() + n * interval '1 second', 'a@example.com', now() - interval '1 day'
         FROM generate_series(1, 250) n`,
      [member.userId],
    );
    let next: string | undefined = PATH;
    const shown: string[] = [];
    while (next !== undefined) {
      const { text } = await openPage(service, owner, next);
      shown.push(...[...text.matchAll(/(Active|Revoked|Expired)<\/span>/g)].map(([, status = '']) => status));
      next = /href="([^"]+)"[^>]*>Next page/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(shown.length).toBeGreaterThan(250);
    expect(shown.lastIndexOf('Active')).toBe(shown.filter((status) => status === 'Active').length - 1);
  });
});
