import { HOUR } from '../../../src/infrastructure/time/index.js';
import { ExpiryJob } from '../../../src/infrastructure/database/index.js';
import { PasswordLinksService } from '../../../src/modules/dashboard-login/index.js';
import { moveClock } from '../../support/clock.js';
import {
  addInvited,
  addUser,
  auditOf,
  INVITER,
  sessionsOf,
  type TestUser,
} from '../../support/pages/dashboard-users.js';
import { useTestApp } from '../../support/test-app.js';
import { BEHIND_PROXY, Visitor } from '../../support/pages/visitor.js';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0';

const service = useTestApp(BEHIND_PROXY);

const loggedIn = async ({ email, password }: TestUser, userAgent = FIREFOX): Promise<Visitor> => {
  const visitor = new Visitor(service, undefined, { 'user-agent': userAgent });
  await visitor.logIn(email, password);
  return visitor;
};

const sessionIdsOn = (text: string): string[] =>
  [...text.matchAll(/name="session" value="([\w-]{36})"/g)].map(([, id]) => id ?? '');

describe('The account page', () => {
  it("shows the user's details", async () => {
    const user = await addUser(service);
    const { text } = await (await loggedIn(user)).get('/account');
    for (const part of ['Ada', user.email, 'Test organization', 'Admin', 'Firefox on Linux', 'This browser'])
      expect(text).toContain(part);
    expect(sessionIdsOn(text)).toEqual([]);
  });

  it('shows names as text', async () => {
    const user = await addUser(service);
    await service.database.query(`UPDATE dashboard_user SET name = '<b>Ada</b>' WHERE id = $1`, [user.id]);
    const visitor = await loggedIn(user, '<script>alert(1)</script>');
    const { text } = await visitor.get('/account');
    expect(text).toContain('&lt;b>Ada&lt;/b>');
    expect(text).not.toContain('<script>');
  });

  it('requires a login', async () => {
    const visitor = new Visitor(service);
    await visitor.get('/login');
    for (const path of ['/account', '/account/password', '/account/password/changed'])
      expect((await visitor.get(path)).location).toBe(`/login?next=${encodeURIComponent(path)}`);
    for (const path of ['/account/password', '/account/sessions/end', '/account/sessions/end-others'])
      expect((await visitor.submit(path)).location).toBe(`/login?next=${encodeURIComponent(path)}`);
  });

  it('ends another session of the same user, but not of other users', async () => {
    const [user, otherUser] = [await addUser(service), await addUser(service)];
    const [here, there, third, foreign] = [
      await loggedIn(user),
      await loggedIn(user),
      await loggedIn(user),
      await loggedIn(otherUser),
    ];
    const [id = ''] = sessionIdsOn((await there.get('/account')).text);
    const ids = sessionIdsOn((await here.get('/account')).text);
    expect(ids).toHaveLength(2);

    await foreign.get('/account');
    expect((await foreign.submit('/account/sessions/end', { session: id })).location).toBe('/account');
    expect(await sessionsOf(service, user)).toBe(3);

    expect((await here.submit('/account/sessions/end', { session: ids[0] ?? '' })).location).toBe('/account');
    expect(await sessionsOf(service, user)).toBe(2);
    expect((await here.submit('/account/sessions/end', { session: 'x' })).location).toBe('/account');

    await here.submit('/account/sessions/end-others');
    expect(await sessionsOf(service, user)).toBe(1);
    expect((await here.get('/account')).status).toBe(200);
    for (const other of [there, third]) expect((await other.get('/account')).status).toBe(303);
    const entries = (await auditOf(service, user)).filter((entry) => entry.startsWith('auth.session_end'));
    expect(entries).toEqual(['auth.session_end success', 'auth.session_end success']);
    expect((await foreign.get('/account')).status).toBe(200);
  });
});

it('Cleaning deletes logins and links that have expired, and no others', async () => {
  const [early, late] = [await addUser(service), await addUser(service)];
  await loggedIn(early);
  const [old, fresh] = [await addInvited(service), await addInvited(service)];
  const links = service.app.get(PasswordLinksService);
  await links.invite(old, INVITER);
  {
    using _clock = moveClock(service, 8 * 24 * HOUR);
    await loggedIn(late);
    await links.invite(fresh, INVITER);
    await service.app.get(ExpiryJob).run();
  }
  expect(await sessionsOf(service, early)).toBe(0);
  expect(await sessionsOf(service, late)).toBe(1);
  expect(await service.database.query('SELECT user_id FROM password_link')).toEqual([{ user_id: fresh.id }]);
});
