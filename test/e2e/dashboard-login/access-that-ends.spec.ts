import { DAY, MINUTE } from '../../../src/infrastructure/time/index.js';
import { DashboardSessionsService } from '../../../src/modules/dashboard-login/index.js';
import {
  DashboardUsersService,
  hashPassword,
  INVITATION_LIFETIME,
} from '../../../src/modules/dashboard-users/index.js';
import { moveClock } from '../../support/clock.js';
import { someAddress } from '../../support/pages/dashboard-users.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { useTestApp } from '../../support/test-app.js';
import { BEHIND_PROXY, Visitor } from '../../support/pages/visitor.js';

const service = useTestApp({ ...BEHIND_PROXY, SESSION_IDLE_MINUTES: '30' });

const NEW_PASSWORD = 'staple correct battery horse';

beforeAll(() => rememberSecret(NEW_PASSWORD));

describe('A generated password', () => {
  /** Adds an owner as `organization create` does. */
  async function addOwner(): Promise<{ email: string; password: string }> {
    const users = service.app.get(DashboardUsersService);
    const { organizationId } = service;
    const user = { organizationId, email: someAddress(), name: 'Ada', role: 'owner' } as const;
    const added = await users.add(await users.prepare({ ...user, passwordLifetime: INVITATION_LIFETIME }));
    rememberSecret(added.password);
    expect(Number(added.passwordExpiresAt)).toBeGreaterThan(Date.now() + 6 * DAY);
    return added;
  }
  const logIn = (email: string, password: string) => new Visitor(service).logIn(email, password);

  it('expires if the user does not replace it', async () => {
    const { email, password } = await addOwner();
    expect((await logIn(email, password)).status).toBe(303);
    using _later = moveClock(service, 7 * DAY + MINUTE);
    const refused = await logIn(email, password);
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('href="/password-reset"');
  });

  it('does not expire once the user has chosen another one', async () => {
    const { email, password } = await addOwner();
    const visitor = new Visitor(service);
    await visitor.logIn(email, password);
    const changed = await visitor.fill(
      '/account/password',
      { current_password: password, new_password: NEW_PASSWORD },
      '/account/password',
    );
    expect(changed.status).toBe(303);
    using _later = moveClock(service, 400 * DAY);
    expect((await logIn(email, NEW_PASSWORD)).status).toBe(303);
  });

  it('does not make one expire that the user has chosen on a process of version 0.3.0', async () => {
    const { email } = await addOwner();
    // Version 0.3.0 does not know the other columns.
    await service.database.query('UPDATE dashboard_user SET password_hash = $2 WHERE email = $1', [
      email,
      await hashPassword(NEW_PASSWORD),
    ]);
    using _later = moveClock(service, 400 * DAY);
    expect((await logIn(email, NEW_PASSWORD)).status).toBe(303);
  });
});

describe('SESSION_IDLE_MINUTES', () => {
  it('ends a login that is not used, and keeps one that is', async () => {
    const [used, unused] = await Promise.all([service.login(), service.login()]);
    const status = async (login: typeof used): Promise<number> =>
      (await service.request('/me', { login })).status;
    expect([await status(used), await status(unused)]).toEqual([200, 200]);
    for (let minutes = 20; minutes <= 100; minutes += 20) {
      using _later = moveClock(service, minutes * MINUTE);
      expect([minutes, await status(used)]).toEqual([minutes, 200]);
    }
    using _later = moveClock(service, 101 * MINUTE);
    expect([await status(used), await status(unused)]).toEqual([200, 401]);
    const sessions = service.app.get(DashboardSessionsService);
    const count = async ({ userId }: typeof used): Promise<number> => (await sessions.list(userId)).length;
    expect([await count(used), await count(unused)]).toEqual([1, 0]);
  });

  it('ends a login after 12 hours in any case', async () => {
    const login = await service.login();
    for (let minutes = 20; minutes < 12 * 60; minutes += 20) {
      using _later = moveClock(service, minutes * MINUTE);
      expect((await service.request('/me', { login })).status).toBe(200);
    }
    using _later = moveClock(service, 12 * 60 * MINUTE + 1_000);
    expect((await service.request('/me', { login })).status).toBe(401);
  });

  it('counts a session of version 0.3.0 from its login on', async () => {
    const login = await service.login();
    await service.database.query('UPDATE dashboard_session SET used_at = NULL WHERE user_id = $1', [
      login.userId,
    ]);
    expect((await service.request('/me', { login })).status).toBe(200);
    using _later = moveClock(service, 31 * MINUTE);
    expect((await service.request('/me', { login })).status).toBe(401);
  });
});
