import { DAY, SECOND } from '../../src/infrastructure/time/index.js';
import { moveClock } from '../support/clock.js';
import { auditedBy } from '../support/audited.js';
import {
  error,
  invalidField,
  startTestApp,
  type TestResponse,
  type Login,
  type TestApp,
} from '../support/test-app.js';

/** Seconds. */
const ONE_DAY = DAY / SECOND;
const OWNERS_ONLY = error(
  'INVALID_REQUEST',
  'INSUFFICIENT_ROLE',
  'Only an owner may grant or revoke the role owner.',
);

interface Grant {
  readonly id: string;
  readonly email: string;
  readonly active: boolean;
  readonly revoked_at: string | null;
}

let service: TestApp;
let owner: Login;
let admin: Login;

beforeAll(async () => {
  service = await startTestApp({ DATABASE_CONNECT_TIMEOUT_MS: '10000' });
  owner = await service.login('owner');
  admin = await service.login('admin');
});
afterAll(() => service.close());

const grant = (user: Pick<Login, 'userId'>, more: object = {}, login = owner): Promise<TestResponse> => {
  const body = { user_id: user.userId, role: 'admin', reason: 'Stands in', expires_in: ONE_DAY, ...more };
  return service.request('/access-grants/create', { body, login });
};
const revoke = (id: unknown, login = owner) =>
  service.request(`/access-grants/${String(id)}/revoke`, { method: 'POST', login });
const list = async (login = owner): Promise<Grant[]> =>
  (await service.request<Grant[]>('/access-grants', { login })).body;
const mayManage = async (login: Login): Promise<boolean> =>
  (await service.request('/users', { login })).status === 200;
const expectRefused = ({ status, body }: TestResponse, refusal: unknown, expected = 400) =>
  expect([status, body]).toEqual([expected, refusal]);

describe('An access grant', () => {
  it('gives a member the rights of an admin until it expires', async () => {
    const member = await service.login('member');
    expect(await mayManage(member)).toBe(false);
    const { status, body } = await grant(member);
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.any(String) as string,
      user_id: member.userId,
      email: member.email,
      role: 'admin',
      reason: 'Stands in',
      created_at: expect.any(String) as string,
      created_by: owner.email,
      expires_at: expect.any(String) as string,
      revoked_at: null,
      active: true,
    });
    expect(Date.parse(String(body['expires_at'])) - Date.parse(String(body['created_at']))).toBe(DAY);
    expect(await mayManage(member)).toBe(true);
    expect((await list())[0]).toEqual(body);

    // The session ends before the grant, so log in again.
    await service.database.query(
      `UPDATE dashboard_session SET expires_at = '2100-01-01', authenticated_at = now() + interval '1 day'`,
    );
    using _clock = moveClock(service, DAY + SECOND);
    expect(await mayManage(member)).toBe(false);
    const expired = (await list()).find(({ id }) => id === body['id']);
    expect(expired).toMatchObject({ active: false, revoked_at: null });
    const entries = await auditedBy(service, async () => {
      expect((await revoke(body['id'])).body).toMatchObject({ active: false, revoked_at: null });
    });
    expect(entries).toEqual([]);
  });

  it('can be revoked, once', async () => {
    const member = await service.login('member');
    const { body } = await grant(member);
    let first: TestResponse | undefined;
    const entries = await auditedBy(service, async () => {
      const responses = await Promise.all(Array.from({ length: 20 }, () => revoke(body['id'])));
      first = responses[0];
      for (const response of responses) expect([response.status, response.body]).toEqual([200, first?.body]);
    });
    expect(entries).toEqual([`access_grant.revoke success ${member.email}`]);
    expect(first?.body).toMatchObject({ active: false, revoked_at: expect.any(String) as string });
    expect((await revoke(body['id'])).body).toEqual(first?.body);
    expect(await mayManage(member)).toBe(false);
  });

  it('of the role owner is granted and revoked by owners only', async () => {
    const { email, userId } = await service.login('member');
    const entries = await auditedBy(service, async () => {
      expectRefused(await grant({ userId }, { role: 'owner' }, admin), OWNERS_ONLY, 403);
      const { body } = await grant({ userId }, { role: 'owner' });
      expectRefused(await revoke(body['id'], admin), OWNERS_ONLY, 403);
      expect((await list()).find(({ id }) => id === body['id'])).toMatchObject({ active: true });
      expect((await revoke(body['id'])).status).toBe(200);
    });
    expect(entries).toEqual([
      `access_grant.create denied ${email}`,
      `access_grant.create success ${email}`,
      `access_grant.revoke denied ${email}`,
      `access_grant.revoke success ${email}`,
    ]);
  });

  it('of the role admin is granted and revoked by admins', async () => {
    const { body } = await grant(await service.login('member'), {}, admin);
    expect((await revoke(body['id'], admin)).status).toBe(200);
  });

  it('is rejected for users who already have the role', async () => {
    const enough = invalidField('The user already has this role or a higher one.');
    expectRefused(await grant(await service.login('admin')), enough);
    expectRefused(await grant(await service.login('owner')), enough);
    expectRefused(await grant(await service.login('owner'), { role: 'owner' }), enough);
    expect((await grant(await service.login('admin'), { role: 'owner' })).status).toBe(200);
  });

  it('cannot be granted to oneself or extended by oneself', async () => {
    const member = await service.login('member');
    const refusal = invalidField('You cannot grant access to yourself.');
    expectRefused(await grant(admin, {}, admin), refusal);
    await grant(member);
    expectRefused(await grant(member, { expires_in: 7 * ONE_DAY }, member), refusal);
  });

  it('is rejected for users of other organizations and unknown users', async () => {
    const { id } = await service.anotherOrganization();
    const outsider = await service.login('member', id);
    for (const user of [outsider, { userId: '00000000-0000-4000-8000-000000000000' }]) {
      expectRefused(
        await grant(user),
        error('USER_ERROR', 'USER_NOT_FOUND', 'There is no user with this ID.'),
        404,
      );
    }
  });

  it.each<[string, object]>([
    ['The user id field is required.', { userId: undefined, user_id: null }],
    ['The user id field must be a UUID.', { user_id: 'ada' }],
    ['The user id field must be a UUID.', { user_id: 7 }],
    ['The role field is required.', { role: '' }],
    ['The selected role is invalid. Allowed values: owner, admin.', { role: 'member' }],
    ['The reason field is required.', { reason: '  ' }],
    ['The reason field must be a string.', { reason: {} }],
    ['The reason field must not be greater than 256 characters.', { reason: 'x'.repeat(257) }],
    ['The expires in field is required.', { expires_in: undefined }],
    ['The expires in field must be an integer.', { expires_in: '3600' }],
    ['The expires in field must be an integer.', { expires_in: 300.5 }],
    ['The expires in field must be at least 300.', { expires_in: 299 }],
    ['The expires in field must not be greater than 604800.', { expires_in: 604_801 }],
  ])('is rejected with "%s"', async (message, change) => {
    expectRefused(await grant(admin, change), invalidField(message));
  });

  it.each([300, 604_800])('lasts %d seconds', async (expires_in) => {
    expect((await grant(await service.login('member'), { expires_in })).status).toBe(200);
  });

  it('is listed with the grants in force first, up to 200', async () => {
    const member = await service.login('member');
    const { body } = await grant(member);
    await service.database.query(
      `INSERT INTO access_grant (id, user_id, role, reason, created_at, created_by, expires_at)
       SELECT gen_random_uuid(), $1, 'admin', 'Old', now() + n * interval '1 second', 'a@example.com', now() - interval '1 day'
         FROM generate_series(1, 250) n`,
      [member.userId],
    );
    const grants = await list();
    expect(grants).toHaveLength(200);
    expect(grants.map(({ id }) => id)).toContain(body['id']);
    const firstEnded = grants.findIndex(({ active }) => !active);
    expect(grants.slice(firstEnded).some(({ active }) => active)).toBe(false);
  });
});
