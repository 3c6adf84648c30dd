import type { DashboardRole } from '../../../src/infrastructure/auth/index.js';
import { moveClock } from '../../support/clock.js';
import { addInvited, auditOf, someAddress } from '../../support/pages/dashboard-users.js';
import { accessToken, decide, poll, startFlow } from '../../support/logins/device-flow.js';
import { PNG } from '../../support/documents/operations.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { samlMetadata } from '../../support/logins/saml.js';
import { useTestApp } from '../../support/test-app.js';
import { Visitor, visitorWithRole, type PageResponse } from '../../support/pages/visitor.js';
import { submitFile } from '../../support/pages/dashboard-forms.js';

const service = useTestApp();

const visitorAs = (role?: DashboardRole, organizationId?: string) =>
  visitorWithRole(service, role, organizationId);

/** Returns the status codes of a page for each role. */
async function statusesOf(path: string): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {};
  for (const role of ['owner', 'admin', 'member', 'viewer'] as const)
    statuses[role] = (await (await visitorAs(role)).get(path)).status;
  return statuses;
}

const ADMINS = { owner: 200, admin: 200, member: 403, viewer: 403 };
const MEMBERS = { ...ADMINS, member: 200 };

/**
 * Returns what all pages of a list show, in its order.
 *
 * @param between is called with the last row of each page before the next one is opened
 */
async function shownOnPages(
  visitor: Visitor,
  path: string,
  rows: RegExp,
  between: (last: string) => Promise<void>,
): Promise<string[]> {
  const shown: string[] = [];
  for (let next: string | undefined = path; next !== undefined;) {
    const { status, text }: PageResponse = await visitor.get(next);
    expect(status).toBe(200);
    shown.push(...[...text.matchAll(rows)].map(([, row = '']) => row));
    await between(shown.at(-1) ?? '');
    next = /href="([^"]+)">Next page/.exec(text)?.[1]?.replaceAll('&amp;', '&');
  }
  return shown;
}

describe('The pages of users', () => {
  const PATH = '/dashboard/users';

  it('invite, change, disable, enable and remove a user', async () => {
    const owner = await visitorAs();
    const email = someAddress();
    const fields = { email, name: 'Grace', role: 'viewer' };

    const refused = await owner.fill(`${PATH}/invitations/new`, { ...fields, email: 'nobody' });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('valid email address')]);
    expect(refused.text).toContain('value="Grace"');

    const invited = await owner.submit(`${PATH}/invitations/new`, fields);
    expect([invited.status, invited.location]).toEqual([303, expect.stringMatching(/\?done=invited$/)]);
    const [user = ''] = invited.location?.split('?') ?? [];
    const page = await owner.get(invited.location ?? '');
    expect(page.text).toContain('The user was invited.');
    expect(page.text).toContain('tone-soft">Invited</span>');
    const [, log = ''] = /href="([^"]+)">See who added or changed this user/.exec(page.text) ?? [];
    expect((await owner.get(log)).text).toMatch(new RegExp(`${owner.login.email}.+${email}`, 's'));

    expect((await owner.fill(`${user}/change`, { name: 'Grace H', role: 'admin' })).location).toBe(
      `${user}?done=changed`,
    );
    expect((await owner.get(user)).text).toContain('Admin: ');
    expect((await owner.get(`${user}/disable`)).text).toContain('Disable Grace H?');
    expect((await owner.submit(`${user}/disable`)).location).toBe(`${user}?done=disable`);
    expect((await owner.get(user)).text).toContain('Disabled</span>');
    expect((await owner.fill(`${user}/enable`, {})).location).toBe(`${user}?done=enable`);
    expect((await owner.fill(`${user}/remove`, {})).location).toBe(`${PATH}?done=remove`);
    expect((await owner.get(user)).status).toBe(404);
    expect(await auditOf(service, owner.login)).toEqual([
      'user.add success',
      ...Array<string>(3).fill('user.update success'),
      'user.remove success',
    ]);
  });

  it('offer a new role for other users, and none for oneself', async () => {
    const owner = await visitorAs();
    const member = await visitorAs('member');
    const other = await owner.get(`${PATH}/${member.login.userId}/change`);
    expect(other.text).toContain('name="role"');
    expect(other.text).not.toContain('You cannot change your own role.');
    const own = await owner.get(`${PATH}/${owner.login.userId}/change`);
    expect(own.text).not.toContain('name="role"');
    expect(own.text).toContain('You cannot change your own role.');
  });

  it('offer admins nothing that only owners may do', async () => {
    const owner = await visitorAs();
    const admin = await visitorAs('admin');
    const path = `${PATH}/${owner.login.userId}`;
    const page = await admin.get(path);
    expect(page.text).toContain('Only owners can change an owner.');
    expect(page.text).not.toContain(`${path}/`);
    expect((await admin.get(`${PATH}/invitations/new`)).text).not.toContain('value="owner"');
  });

  it('are for admins and owners of the organization', async () => {
    expect(await statusesOf(PATH)).toEqual(ADMINS);
    const member = await visitorAs('member');
    await member.get('/account');
    expect((await member.submit(`${PATH}/invitations/new`)).status).toBe(403);
    expect((await member.get('/account')).text).not.toContain(`href="${PATH}"`);
    const other = await visitorAs('owner', (await service.anotherOrganization()).id);
    for (const action of ['', '/change', '/disable', '/remove'])
      expect((await other.get(`${PATH}/${member.login.userId}${action}`)).status).toBe(404);
    expect((await other.get(`${PATH}/nobody`)).status).toBe(404);
  });

  it('filter users and show when they last logged in', async () => {
    const admin = await visitorAs('admin');
    const { email } = await addInvited(service);
    const found = await admin.get(`${PATH}?search=${email.toUpperCase()}&role=&status=invited`);
    expect(found.text).toContain(email);
    expect(found.text).toContain('Never</td>');
    expect(found.text).toMatch(/1 of \d+ users/);
    expect((await admin.get(`${PATH}?search=${email}&status=active`)).text).toContain('No user matches');
    await admin.logIn(admin.login.email, admin.login.password);
    const self = await admin.get(`${PATH}?search=${admin.login.email}`);
    expect(self.text).toMatch(/<time [^>]*title="(?:now|\d+ seconds ago)">/);
  });

  it('show 1,000 users in small pages', async () => {
    const { id } = await service.anotherOrganization();
    await service.database.query(
      `INSERT INTO dashboard_user (id, organization_id, email, name, role, created_at)
       SELECT gen_random_uuid(), $1, 'user-' || n || '-with-a-long-address@subsidiary.example.com',
              'A user with a long name and the number ' || n, 'member', now()
         FROM generate_series(1, 990) AS n`,
      [id],
    );
    const owner = await visitorAs('owner', id);
    let next: string | undefined = PATH;
    const names = new Set<string>();
    for (let page = 1; next !== undefined; page += 1) {
      const { text, size } = await owner.get(next);
      expect(size).toBeLessThan(60_000);
      for (const [, name = ''] of text.matchAll(/long name and the number (\d+)</g)) names.add(name);
      next = /href="([^"]+)">Next page/.exec(text)?.[1]?.replaceAll('&amp;', '&');
      if (page > 1) expect(text).toContain('>Previous page</a>');
      expect(page).toBeLessThan(30);
    }
    expect(names.size).toBe(990);
  });

  it('continue after the last user of a page who was removed since', async () => {
    const { id } = await service.anotherOrganization();
    await service.database.query(
      `INSERT INTO dashboard_user (id, organization_id, email, name, role, created_at)
       SELECT gen_random_uuid(), $1, 'user-' || n || '@example.com', 'User ' || n, 'member',
              now() - (100 - n / 3) * interval '1 second'
         FROM generate_series(1, 120) AS n`,
      [id],
    );
    const owner = await visitorAs('owner', id);
    const shown = await shownOnPages(owner, PATH, />(User \d+)</g, async (name) => {
      await service.database.query('DELETE FROM dashboard_user WHERE name = $1', [name]);
    });
    expect(shown.toSorted()).toEqual(Array.from({ length: 120 }, (_, n) => `User ${n + 1}`).toSorted());
  });
});

describe('A form that requires a recent login', () => {
  it('is shown without one, and keeps what was sent for the time after the login', async () => {
    const owner = await visitorAs();
    const invite = '/dashboard/users/invitations/new';
    using _clock = moveClock(service, 6 * 60_000);
    expect((await owner.get(invite)).text).toContain('data-login-within="300000"');
    const referer = `${service.baseUrl}${invite}?done=x`;
    const fields = { email: 'someone@example.com', name: 'Someone', role: 'viewer' };
    const refused = await owner.submit(invite, fields, { referer });
    const query = new URLSearchParams({ to: invite, next: invite });
    expect([refused.status, refused.location]).toEqual([307, `/login/again?${query}`]);
    const login = await owner.submit(refused.location ?? '', fields);
    expect(login.text).toContain('Log in again</h1>');
    expect(login.text).toContain('Nothing was changed yet');
    expect(login.text).toContain(`value="${owner.login.email}"`);
    const sent = /name="sent" value="([^"]+)"/.exec(login.text)?.[1]?.replaceAll('&quot;', '"') ?? '';
    expect(JSON.parse(sent)).toMatchObject({ to: invite, secrets: [] });
    const { email, password } = owner.login;
    const wrong = await owner.submit('/login', { email, password: 'wrong', again: 'form', next: '/x' });
    expect(wrong.text).toContain('Nothing was changed');
    const target = { next: invite, again: 'form', sent };
    const done = await owner.submit('/login', { email, password, ...target });
    expect([done.status, done.location]).toEqual([307, '/login/continue']);
    const shown = await owner.submit('/login/continue', target);
    expect(shown.text).toContain('email: someone@example.com');
    const colleague = await visitorAs();
    await colleague.get('/account');
    const other = await colleague.submit('/login/continue', target);
    expect([other.status, other.location]).toEqual([303, '/dashboard']);
    const nobody = new Visitor(service);
    await nobody.get('/login');
    expect((await nobody.submit('/login/continue', target)).location).toBe('/login?again=form');
    // No copy of the pages is stored: a reload after the logout would get it, and an erasure would not find it.
    const pageToken = { page_token: 'a-token-of-a-page' };
    const again = refused.location ?? '';
    const stored = 'SELECT count(*)::integer FROM submitted_form WHERE outcome_sealed IS NOT NULL';
    const [before] = await service.database.query(stored);
    for (const [path, sentFields] of [
      [again, { ...fields, ...pageToken }],
      ['/login', { email, step: 'address', ...target, ...pageToken }],
      ['/login/continue', { ...target, ...pageToken }],
    ] as const) {
      const { status, text } = await owner.submit(path, sentFields);
      expect([path, status, text]).toEqual([path, 200, expect.stringContaining(fields.email)]);
    }
    expect(await service.database.query(stored)).toEqual([before]);
    expect((await owner.submit(invite, fields)).status).toBe(303);
    expect((await owner.get('/dashboard/users/invitations/new')).status).toBe(200);
  });

  it('carries a form through the login only if its steps have room for it, and its address without a long filter', async () => {
    const owner = await visitorAs();
    const invite = '/dashboard/users/invitations/new';
    await owner.get(invite);
    using _clock = moveClock(service, 6 * 60_000);
    const fields = { email: 'someone@example.com', name: 'Someone', role: 'viewer' };
    const long = await owner.submit(invite, { ...fields, name: '"'.repeat(4_000) });
    expect(long.text).toContain('Send the form again</h1>');
    const referer = `${service.baseUrl}${invite}?filter=${'%C3%A4'.repeat(900)}`;
    const { location } = await owner.submit(invite, fields, { referer });
    expect(location).toBe(`/login/again?${new URLSearchParams({ to: invite, next: invite })}`);
  });
});

describe('The pages of API credentials', () => {
  const PATH = '/dashboard/production/api-credentials';
  const action = (name: string, { clientId } = service.production): string => `${PATH}/${clientId}/${name}`;
  const secretIn = (text: string): string => /<code>(mcs_live_[\w-]+)<\/code>/.exec(text)?.[1] ?? '';

  it('show the client ID and hide the secret until it is viewed', async () => {
    const admin = await visitorAs('admin');
    const { text } = await admin.get(PATH);
    expect(text).toContain(`<code>${service.production.clientId}</code>`);
    expect(text).toContain('Rotate the secret without losing an event');
    expect(text).not.toContain(service.production.secret);
    expect((await admin.get(action('view'))).text).not.toContain(service.production.secret);
    const viewed = await admin.submit(action('view'));
    expect([viewed.status, viewed.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(secretIn(viewed.text)).toBe(service.production.secret);
    expect(await auditOf(service, admin.login)).toEqual(['secret.view success']);
  });

  it('rotate the secret with an overlap and activate it', async () => {
    const admin = await visitorAs('admin');
    expect((await admin.get(action('rotate'))).text).toContain('24 hours</option>');
    const refused = await admin.submit(action('rotate'), { overlap_hours: '169' });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('not be greater than 168')]);
    const rotated = await admin.submit(action('rotate'), { overlap_hours: '24' });
    const secret = secretIn(rotated.text);
    rememberSecret(secret);
    expect(rotated.text).toContain('The old secret keeps working during the overlap.');
    for (const each of [secret, service.production.secret])
      expect(
        (await service.request('/merchants', { as: { ...service.production, secret: each } })).status,
      ).toBe(200);

    const during = await admin.get(PATH);
    expect(during.text).toContain('A rotation is in progress');
    expect(during.text).toContain(action('activate'));
    const again = await admin.fill(action('rotate'), { overlap_hours: '24' });
    expect([again.status, again.text]).toEqual([400, expect.stringContaining('A rotation is in progress')]);
    expect((await admin.fill(action('activate'), {})).location).toBe(`${PATH}?done=activated`);
    expect((await admin.get(PATH)).text).not.toContain(action('activate'));

    const last = await admin.fill(action('rotate'), { overlap_hours: '0' });
    rememberSecret(secretIn(last.text));
    expect(last.text).toContain('All earlier secrets have stopped working.');
    expect(await auditOf(service, admin.login)).toEqual(Array(3).fill('secret.rotate success'));
  });

  it('rename the client', async () => {
    const admin = await visitorAs('admin');
    expect((await admin.fill(action('rename'), { name: '' })).text).toContain(
      'The “Name” field is required.',
    );
    expect((await admin.submit(action('rename'), { name: 'Shop' })).location).toBe(`${PATH}?done=renamed`);
    expect((await admin.get(PATH)).text).toContain('Shop · ');
  });

  it('show members no buttons, and belong to one organization and environment', async () => {
    expect(await statusesOf(PATH)).toEqual(MEMBERS);
    expect(await statusesOf(action('view'))).toEqual(ADMINS);
    const member = await visitorAs('member');
    const { text } = await member.get(PATH);
    expect(text).toContain(service.production.clientId);
    expect(text).not.toContain(`${service.production.clientId}/`);
    expect((await member.submit(action('view'))).status).toBe(403);
    expect(await auditOf(service, member.login)).toEqual(['secret.view denied']);
    const owner = await visitorAs();
    const { production } = await service.anotherOrganization();
    for (const client of [service.development, production])
      for (const name of ['view', 'rotate', 'activate', 'rename'])
        expect((await owner.fill(action(name, client), {})).status).toBe(404);
    expect((await owner.get('/dashboard/staging/api-credentials')).status).toBe(404);
  });
});

describe('The pages of merchants', () => {
  const PATH = '/dashboard/development/merchants';

  it('filter merchants by name and status, and hide and show them', async () => {
    const admin = await visitorAs('admin');
    const list = await admin.get(`${PATH}?name=net-flix&status=`);
    expect(list.text.match(/id="merchant-/g)).toHaveLength(1);
    const [, hide = '', id = ''] = /formaction="([^"]+\/(\d+)\/hide)"/.exec(list.text) ?? [];
    expect((await admin.submit(hide, { name: 'Netflix' })).location).toBe(
      `${PATH}?name=Netflix&done=hidden#merchant-${id}`,
    );
    const hidden = await admin.get(`${PATH}?status=hidden&done=hidden`);
    expect(hidden.text).toContain('The merchant is hidden in the development environment.');
    expect(hidden.text).toContain('Hidden</span>');
    expect((await admin.get(`${PATH}?name=netflix&status=shown`)).text).toContain('No merchant matches');
    expect((await admin.get(`${PATH.replace('development', 'production')}?status=hidden`)).text).toContain(
      'No merchant matches',
    );
    expect((await admin.submit(`${PATH}/${id}/activate`)).location).toBe(`${PATH}?done=shown#merchant-${id}`);
    expect((await admin.submit(`${PATH}/999999/hide`)).status).toBe(404);
    expect(await auditOf(service, admin.login)).toEqual([
      'merchant.hide success',
      'merchant.activate success',
    ]);
  });

  it('lead back to the list after the session has ended', async () => {
    const admin = await visitorAs('admin');
    await admin.get(PATH);
    admin.cookies.delete('session');
    const from = async (referer: string): Promise<string | null> =>
      (await admin.submit(`${PATH}/1/hide`, {}, { referer })).location;
    expect(await from(`${service.baseUrl}${PATH}?name=a&done=hidden`)).toBe(
      `/login?next=${encodeURIComponent(`${PATH}?name=a`)}`,
    );
    const path = encodeURIComponent(`${PATH}/1/hide`);
    expect(await from('https://evil.example/page')).toBe(`/login?next=${path}`);
    expect(await from('')).toBe(`/login?next=${path}`);
  });

  it('show members no buttons', async () => {
    expect(await statusesOf(PATH)).toEqual(MEMBERS);
    expect(await statusesOf(`${PATH}/export`)).toEqual(ADMINS);
    const member = await visitorAs('member');
    expect((await member.get(PATH)).text).not.toMatch(/formaction|export/);
    expect((await member.submit(`${PATH}/1/hide`)).status).toBe(403);
    expect(await auditOf(service, member.login)).toEqual(['merchant.hide denied']);
  });

  it('continue after the last merchant of a page that was renamed or removed since', async () => {
    await service.database.query(
      `INSERT INTO merchant (id, name) SELECT 200000 + n, 'Zebra ' || n FROM generate_series(1, 120) AS n`,
    );
    await service.database.query(
      `INSERT INTO merchant_name (match_key, merchant_id) SELECT 'zebra' || n, 200000 + n FROM generate_series(1, 120) AS n`,
    );
    const changes = [
      'DELETE FROM merchant_name WHERE merchant_id = $1',
      `UPDATE merchant SET name = 'A' WHERE id = $1`,
    ];
    const shown = await shownOnPages(
      await visitorAs('admin'),
      `${PATH}?name=zebra`,
      /id="merchant-(\d+)"/g,
      async (id) => {
        const change = changes.shift();
        if (change) await service.database.query(change, [id]);
      },
    );
    expect(shown.toSorted()).toEqual(Array.from({ length: 120 }, (_, n) => String(200_001 + n)).toSorted());
    await service.database.query('DELETE FROM merchant_name WHERE merchant_id > 200000');
    await service.database.query('DELETE FROM merchant WHERE id > 200000');
  });

  it('show thousands of merchants in small pages', async () => {
    await service.database.query(
      `INSERT INTO merchant (id, name) SELECT 100000 + n, 'A merchant with a long name ' || n
         FROM generate_series(1, 3000) AS n`,
    );
    const admin = await visitorAs('admin');
    const ids = new Set<string>();
    let next: string | undefined = PATH;
    while (next !== undefined) {
      const { text, size } = await admin.get(next);
      expect(size).toBeLessThan(60_000);
      for (const [, id = ''] of text.matchAll(/id="merchant-(\d+)"/g)) ids.add(id);
      next = /href="([^"]+)">Next page/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    const [all] = await service.database.query<{ count: number }>('SELECT count(*)::integer FROM merchant');
    expect(ids.size).toBe(all?.count);
  });
});

describe('The pages of access grants', () => {
  const PATH = '/dashboard/access-grants';

  it('show each grant once while grants end and are removed', async () => {
    const { id } = await service.anotherOrganization();
    const owner = await visitorAs('owner', id);
    await service.database.query(
      `INSERT INTO access_grant (id, user_id, role, reason, created_at, created_by, expires_at)
       SELECT gen_random_uuid(), $1, 'admin', 'Reason ' || n, now() - (100 - n / 3) * interval '1 second', 'a@example.com',
              now() + CASE WHEN n % 10 = 0 THEN interval '-1 day' ELSE interval '1 day' END
         FROM generate_series(1, 130) n`,
      [owner.login.userId],
    );
    const shown = await shownOnPages(owner, PATH, />(Reason \d+)</g, async (last) => {
      await service.database.query('UPDATE access_grant SET revoked_at = now() WHERE revoked_at IS NULL');
      await service.database.query('DELETE FROM access_grant WHERE reason = $1', [last]);
    });
    expect(shown.toSorted()).toEqual(Array.from({ length: 130 }, (_, n) => `Reason ${n + 1}`).toSorted());
    // The grants that were active when the first page was opened come first.
    expect(shown.slice(-13).every((reason) => reason.endsWith('0'))).toBe(true);
  });

  it('grant and revoke a role', async () => {
    const owner = await visitorAs();
    const member = await visitorAs('member');
    const { email, userId } = member.login;
    expect((await owner.get(`/dashboard/users/${userId}`)).text).toContain(
      `${PATH}/new?email=${encodeURIComponent(email)}`,
    );
    expect((await owner.get(`${PATH}/new?email=${email}`)).text).toMatch(
      new RegExp(`value="${email}" selected[^>]*>[^<]+ \\(${email}\\)<`),
    );
    const fields = { email, role: 'admin', expires_in: '3600', reason: 'Covers for Grace' };
    const unknown = await owner.submit(`${PATH}/new`, { ...fields, email: someAddress() });
    expect([unknown.status, unknown.text]).toEqual([400, expect.stringContaining('No user of your')]);
    const endless = await owner.submit(`${PATH}/new`, { ...fields, expires_in: '9999999' });
    expect([endless.status, endless.text]).toEqual([400, expect.stringContaining('Covers for Grace')]);
    expect((await owner.submit(`${PATH}/new`, fields)).location).toBe(`${PATH}?done=granted`);
    expect((await member.get('/dashboard/users')).status).toBe(200);
    expect((await owner.get(`/dashboard/users/${userId}`)).text).toContain('Temporary role');

    const list = await owner.get(PATH);
    expect(list.text).toMatch(/Active<\/span><span class="on-phone"> until <time/);
    const [, revocation = ''] = /href="([^"]+\/revoke)"/.exec(list.text) ?? [];
    expect((await owner.get(revocation)).text).toContain(`Revoke the role of ${email}?`);
    expect((await owner.submit(revocation)).location).toBe(`${PATH}?done=revoked`);
    expect((await owner.get(PATH)).text).toContain('Revoked</span>');
    expect((await member.get('/dashboard/users')).status).toBe(403);
    expect(await auditOf(service, owner.login)).toEqual([
      'access_grant.create success',
      'access_grant.revoke success',
    ]);
  });

  it('offer admins only the role admin, and are for admins and owners', async () => {
    expect(await statusesOf(PATH)).toEqual(ADMINS);
    const admin = await visitorAs('admin');
    expect((await admin.get(`${PATH}/new`)).text).not.toContain('value="owner"');
    const unknown = '0e0a5d3f-7b0a-4c55-9d6c-6a1d3c9a2f10';
    expect((await admin.get(`${PATH}/${unknown}/revoke`)).status).toBe(404);
  });
});

describe('The page of devices', () => {
  const PATH = '/dashboard/devices';
  const isActive = async (token: string): Promise<boolean> =>
    (await service.request('/me', { token })).status === 200;

  it('shows the devices of the user and ends the access of one', async () => {
    const viewer = await visitorAs('viewer');
    expect((await viewer.get(PATH)).text).toContain('No device has access on your behalf');
    const tokens = [await accessToken(service, viewer.login), await accessToken(service, viewer.login)];
    const { text } = await viewer.get(PATH);
    expect(text).toContain(`<code>${service.development.clientId}</code>`);
    expect(text).toMatch(/title="in 14 minutes">/);
    const devices = [...text.matchAll(/name="device" value="([^"]+)"/g)].map(([, id = '']) => id);
    expect(devices).toHaveLength(2);
    // The newest device comes first.
    expect((await viewer.submit(PATH, { device: devices[0] ?? '' })).location).toBe(`${PATH}?done=ended`);
    expect(await Promise.all(tokens.map(isActive))).toEqual([true, false]);
    await viewer.submit(PATH, { device: devices[0] ?? '' });
    const revoked = (await auditOf(service, viewer.login)).filter((entry) => entry.includes('device_revoke'));
    expect(revoked).toEqual(['auth.device_revoke success']);
    expect((await viewer.get(PATH)).text.match(/name="device"/g)).toHaveLength(1);
    {
      using _clock = moveClock(service, 15 * 60_000);
      expect((await viewer.get(PATH)).text).toContain('No device has access');
    }

    const other = await visitorAs('owner');
    expect((await other.get(PATH)).text).toContain('No device has access');
    expect((await other.submit(PATH, { device: devices[1] ?? '' })).status).toBe(404);
    expect((await other.submit(PATH, { device: 'none' })).status).toBe(404);
    expect(await isActive(tokens[0] ?? '')).toBe(true);
  });

  it('ends the access of a device that has not fetched its token yet', async () => {
    const viewer = await visitorAs('viewer');
    const flow = await startFlow(service);
    await decide(service, viewer.login, flow.user_code);
    const { text } = await viewer.get(PATH);
    expect(text).toContain('15 minutes after the program continues');
    await viewer.submit(PATH, { device: /name="device" value="([^"]+)"/.exec(text)?.[1] ?? '' });
    expect((await poll(service, flow)).body['error']).toBe('access_denied');
  });
});

describe('The pages of settings', () => {
  const PATH = '/dashboard/organization';
  /** An organization of its own, because the tests change it. */
  const organizationId = async (): Promise<string> => (await service.anotherOrganization()).id;

  it('activate the organization', async () => {
    const owner = await visitorAs('owner', await organizationId());
    expect((await owner.get(PATH)).text).toContain('Not activated</span>');
    expect((await owner.get(`${PATH}/activate`)).text).toContain('Activate Test organization?');
    expect((await owner.submit(`${PATH}/activate`)).location).toBe(`${PATH}?done=activated`);
    expect((await owner.get(PATH)).text).toContain('Active</span>');
    expect((await owner.get(`${PATH}/activate`)).location).toBe(`${PATH}?done=activated`);
    expect(await auditOf(service, owner.login)).toEqual(['account.activate success']);
  });

  it('require two-factor authentication and make it optional', async () => {
    const owner = await visitorAs('owner', await organizationId());
    const path = `${PATH}/second-factor`;
    await owner.get(path);
    const refused = await owner.submit(path, { required: 'yes', grace_period_days: '91' });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('not be greater than 90')]);
    expect((await owner.submit(path, { required: 'yes', grace_period_days: '7' })).location).toBe(
      `${PATH}?done=required`,
    );
    expect((await owner.get(PATH)).text).toContain('Required</span> from');
    expect((await owner.get('/dashboard/users?two_factor=off')).text).toContain(owner.login.email);
    expect((await owner.fill(path, { required: 'no' })).location).toBe(`${PATH}?done=optional`);
    expect(await auditOf(service, owner.login)).toEqual(['account.update success', 'account.update success']);
  });

  it('show the logo, which is uploaded as a file', async () => {
    const admin = await visitorAs('admin', await organizationId());
    expect((await admin.get(`${PATH}/logo`)).status).toBe(404);
    await submitFile(service, admin.login, `${PATH}/logo/change`, { image: PNG });
    await submitFile(service, admin.login, `${PATH}/logo/change`, { image: PNG });
    expect(await auditOf(service, admin.login)).toEqual(['account.logo_update success']);
    expect((await admin.get(PATH)).text).toContain(`src="${PATH}/logo"`);
    expect((await admin.submit(`${PATH}/logo/change`)).text).toContain('must be multipart/form-data');
  });

  it('show each role what it may change', async () => {
    expect(await statusesOf(PATH)).toEqual(MEMBERS);
    expect(await statusesOf(`${PATH}/logo/change`)).toEqual(ADMINS);
    for (const action of ['activate', 'second-factor'])
      expect(await statusesOf(`${PATH}/${action}`)).toEqual({ ...ADMINS, admin: 403 });
    expect((await (await visitorAs('member')).get(PATH)).text).not.toMatch(/organization\/(?!logo")/);
    const admin = await visitorAs('admin');
    await admin.get(PATH);
    expect((await admin.submit(`${PATH}/activate`)).status).toBe(403);
    expect(await auditOf(service, admin.login)).toEqual(['account.activate denied']);
  });
});

describe('The pages of single sign-on', () => {
  const PATH = '/dashboard/single-sign-on';
  const NEW = `${PATH}/configurations/new`;

  it('add, change, enable and disable an identity provider', async () => {
    const admin = await visitorAs('admin');
    expect((await admin.get(PATH)).text).toContain('2. Add your identity provider');
    const refused = await admin.fill(NEW, { name: 'Okta', metadata_xml: '<x/>' });
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining('a SAML 2.0 EntityDescriptor'),
    ]);
    expect(refused.text).toContain('&lt;x/>');

    // Longer than other forms may be.
    const metadata_xml = `${samlMetadata()}<!--${'é'.repeat(30_000)}-->`;
    const added = await admin.submit(NEW, { name: 'Okta', metadata_xml });
    expect([added.status, added.location]).toEqual([303, expect.stringMatching(/\?done=added$/)]);
    const [path = ''] = added.location?.split('?') ?? [];
    expect((await admin.get(path)).text).toMatch(/<code>(?:[\dA-F]{2}:){31}[\dA-F]{2}<\/code>/);

    expect((await admin.fill(`${path}/change`, { name: 'Entra', metadata_xml: '' })).location).toBe(
      `${path}?done=changed`,
    );
    expect((await admin.get(`${path}/enable`)).text).toContain('Enable Entra?');
    expect((await admin.submit(`${path}/enable`)).location).toBe(`${path}?done=enabled`);
    const second = await admin.fill(NEW, { name: 'Other', metadata_xml: samlMetadata() });
    const other = second.location?.split('?')[0] ?? '';
    const { status, text } = await admin.fill(`${other}/enable`, {});
    expect([status, text]).toEqual([400, expect.stringContaining('Another single sign-on configuration is')]);
    expect((await admin.fill(`${path}/disable`, {})).location).toBe(`${path}?done=disabled`);
    expect((await admin.get(PATH)).text).toMatch(/Entra.+Other/);
    expect(await auditOf(service, admin.login)).toEqual([
      'sso.add success',
      'sso.update success',
      'sso.enable success',
      'sso.add success',
      'sso.disable success',
    ]);

    const stranger = await visitorAs('owner', (await service.anotherOrganization()).id);
    for (const action of ['', '/change', '/enable', '/disable'])
      expect((await stranger.get(`${path}${action}`)).status).toBe(404);
    expect((await stranger.submit(`${path}/disable`)).status).toBe(404);
  });

  it('are for admins and owners', async () => {
    expect(await statusesOf(PATH)).toEqual(ADMINS);
    expect(await statusesOf(NEW)).toEqual(ADMINS);
    const member = await visitorAs('member');
    await member.get('/account');
    expect((await member.submit(NEW)).status).toBe(403);
    expect(await auditOf(service, member.login)).toEqual(['sso.add denied']);
  });
});
