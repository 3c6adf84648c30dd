import { MINUTE } from '../../../src/infrastructure/time/index.js';
import { DashboardSessionsService } from '../../../src/modules/dashboard-login/index.js';
import { SecondFactorService } from '../../../src/modules/dashboard-login/second-factor/second-factor.service.js';
import { DashboardUsersRepository, type DashboardUser } from '../../../src/modules/dashboard-users/index.js';
import { moveClock } from '../../support/clock.js';
import { submitForm } from '../../support/pages/dashboard-forms.js';
import { addUser, auditOf, disable, sessionsOf, type TestUser } from '../../support/pages/dashboard-users.js';
import { countedAttempts, whileDiskIsFull } from '../../support/database/full-disk.js';
import { logLinesOf } from '../../support/logs/log-lines.js';
import { mailTo } from '../../support/messages/mails.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { useTestApp, type Login } from '../../support/test-app.js';
import { totpCode } from '../../support/logins/totp.js';
import { BEHIND_PROXY, Visitor, type PageResponse, sessionIn } from '../../support/pages/visitor.js';
import { whileInsertsFail } from '../../support/database/failing-inserts.js';

const STEP = 30_000;
const SETUP = '/account/second-factor/setup';

const service = useTestApp(BEHIND_PROXY);
/** A code is accepted once, so every test moves the clock by a few steps. */
let ahead = 0;
let clock: Disposable | undefined;

beforeEach(() => advanceClock());

function advanceClock(): void {
  clock?.[Symbol.dispose]();
  ahead += 3 * STEP;
  clock = moveClock(service, ahead);
}

const codeOf = (secret: string, steps = 0) => totpCode(secret, Date.now() + ahead + steps * STEP);

const secretOn = (page: PageResponse): string => {
  const secret = (/<code class="secret">([A-Z2-7 ]+)</.exec(page.text)?.[1] ?? '').replaceAll(' ', '');
  rememberSecret(secret);
  return secret;
};

const recoveryCodesOn = (page: PageResponse): string[] => {
  const [, block = ''] = /<code>((?:[2-9A-Z]{5}-[2-9A-Z]{5}\s*)+)<\/code>/.exec(page.text) ?? [];
  const codes = block.split('\n').filter(Boolean);
  rememberSecret(...codes, ...codes.map((code) => code.replace('-', '')));
  return codes;
};

interface ProtectedUser extends TestUser {
  readonly secret: string;
  readonly recoveryCodes: string[];
  /** The browser that set it up, still logged in. */
  readonly visitor: Visitor;
}

async function protectedUser(): Promise<ProtectedUser> {
  const user = await addUser(service);
  const visitor = new Visitor(service);
  await visitor.logIn(user.email, user.password);
  await visitor.get('/account/second-factor');
  await visitor.submit(SETUP);
  const secret = secretOn(await visitor.get(SETUP));
  const enabled = await visitor.submit('/account/second-factor/enable', { code: codeOf(secret) });
  expect(enabled.status).toBe(200);
  advanceClock();
  return { ...user, secret, recoveryCodes: recoveryCodesOn(enabled), visitor };
}

/** Completes the first step of a login. */
async function passFirstStep({ email, password }: TestUser): Promise<Visitor> {
  const visitor = new Visitor(service);
  expect((await visitor.logIn(email, password)).location).toBe('/login/second-factor');
  expect((await visitor.get('/login/second-factor')).status).toBe(200);
  return visitor;
}

/** Opens more half-finished logins than the limit on password attempts allows. */
async function openManyLogins(user: TestUser, count: number): Promise<Visitor[]> {
  const visitors = Array.from({ length: count }, () => new Visitor(service));
  for (const visitor of visitors) {
    const origin = { ip: visitor.ip, userAgent: 'visitor' };
    const { token } = await service.app.get(DashboardSessionsService).open(user.id, 'second_factor', origin);
    rememberSecret(token);
    visitor.cookies.set('session', token);
    await visitor.get('/login/second-factor');
  }
  return visitors;
}

const prove = (visitor: Visitor, proof: Record<string, string>) =>
  visitor.submit('/login/second-factor', proof);

const statusesOf = (responses: PageResponse[]) => responses.map(({ status }) => status).toSorted();

const columnsOf = async ({ id }: TestUser) => {
  const [row] = await service.database.query<Record<string, unknown>>(
    `SELECT totp_secret_sealed, totp_enabled_at, totp_last_step,
            (SELECT count(*)::int FROM recovery_code WHERE user_id = id) AS recovery_codes
       FROM dashboard_user WHERE id = $1`,
    [id],
  );
  return row ?? {};
};

describe('Setting up the second factor', () => {
  it('shows a secret only in the browser in which it was asked for, and only after a recent login', async () => {
    const user = await addUser(service);
    const [thief, visitor] = [new Visitor(service), new Visitor(service)];
    for (const each of [thief, visitor]) await each.logIn(user.email, user.password);
    await thief.get('/account/second-factor');
    await thief.submit(SETUP);
    const known = secretOn(await thief.get(SETUP));
    expect(known).not.toBe('');
    expect((await visitor.get(SETUP)).location).toBe('/account/second-factor');
    const enable = { code: codeOf(known) };
    await visitor.get('/account/second-factor');
    expect((await visitor.submit('/account/second-factor/enable', enable)).status).toBe(303);

    await visitor.submit(SETUP);
    const secret = secretOn(await visitor.get(SETUP));
    expect([known === secret, secret]).toEqual([false, expect.stringMatching(/^[A-Z2-7]{32}$/)]);
    expect((await thief.get(SETUP)).location).toBe('/account/second-factor');
    await service.database.query(
      `UPDATE dashboard_session SET authenticated_at = now() - interval '6 minutes' WHERE user_id = $1`,
      [user.id],
    );
    expect((await visitor.get(SETUP)).location).toMatch(/^\/login\?/);
  });

  it('shows a secret, accepts a code for it, and shows 10 recovery codes once', async () => {
    const user = await addUser(service);
    const visitor = new Visitor(service);
    await visitor.logIn(user.email, user.password);
    expect((await visitor.get('/account/second-factor')).text).toContain('<strong>off</strong>');
    expect((await visitor.submit(SETUP)).location).toBe(SETUP);
    const page = await visitor.get(SETUP);
    const secret = secretOn(page);
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(page.text).toMatch(/<svg class="qr"[^>]+role="img"[^>]+><path d="M4 4h1v1h-1z/);
    expect(secretOn(await visitor.get(SETUP))).toBe(secret);
    expect(await columnsOf(user)).toMatchObject({ totp_enabled_at: null, recovery_codes: 0 });

    const wrong = await visitor.submit('/account/second-factor/enable', { code: '000000' });
    expect(wrong.status).toBe(400);
    expect(secretOn(wrong)).toBe(secret);

    const enabled = await visitor.submit('/account/second-factor/enable', { code: codeOf(secret) });
    const codes = recoveryCodesOn(enabled);
    expect(new Set(codes).size).toBe(10);
    expect(enabled.headers.get('cache-control')).toBe('no-store');
    const state = await visitor.get('/account/second-factor');
    expect(state.text).toContain('<strong>on</strong>');
    expect(state.text).toContain('You have 10 left');
    expect(state.text).not.toContain(codes[0]);
    expect(await auditOf(service, user)).toEqual(['auth.login success', 'auth.two_factor_enable success']);

    const columns = await columnsOf(user);
    expect(columns).toMatchObject({ recovery_codes: 10 });
    expect((columns['totp_secret_sealed'] as Buffer).toString('latin1')).not.toContain(secret);
  });

  it('requires a login from the last 5 minutes, both to begin and to enable it', async () => {
    const user = await addUser(service);
    const visitor = new Visitor(service);
    await visitor.logIn(user.email, user.password);
    await visitor.get('/account/second-factor');
    await visitor.submit(SETUP);
    const secret = secretOn(await visitor.get(SETUP));
    ahead += 6 * MINUTE;
    advanceClock();
    const logInAgain = `/login?next=${encodeURIComponent(SETUP)}&again=page`;
    expect((await visitor.submit(SETUP)).location).toBe(logInAgain);
    const code = () => ({ code: codeOf(secret) });
    expect((await visitor.submit('/account/second-factor/enable', code())).location).toBe(logInAgain);
    expect(await columnsOf(user)).toMatchObject({ totp_enabled_at: null });

    expect((await visitor.logIn(user.email, user.password, SETUP)).location).toBe(SETUP);
    expect(secretOn(await visitor.get(SETUP))).toBe(secret);
    expect((await visitor.submit('/account/second-factor/enable', code())).status).toBe(200);
  });

  it('notifies the user of every change by email', async () => {
    const user = await protectedUser();
    await mailTo(service, user.email, 'Two-factor authentication was turned on');
    await user.visitor.get('/account/second-factor');
    await user.visitor.submit('/account/second-factor/recovery-codes', { password: user.password });
    await mailTo(service, user.email, 'Your recovery codes were replaced');
    await user.visitor.get('/account/second-factor');
    await user.visitor.submit('/account/second-factor/disable', { password_to_turn_off: user.password });
    await mailTo(service, user.email, 'Two-factor authentication was turned off');
  });

  it('is not possible while it is enabled', async () => {
    const user = await protectedUser();
    const before = await columnsOf(user);
    expect((await user.visitor.get(SETUP)).location).toBe('/account/second-factor');
    await user.visitor.get('/account');
    await user.visitor.submit(SETUP);
    const again = await user.visitor.submit('/account/second-factor/enable', { code: codeOf(user.secret) });
    expect(again.location).toBe('/account/second-factor');
    expect(await columnsOf(user)).toEqual(before);
  });

  it('succeeds for 1 of several concurrent requests', async () => {
    const user = await addUser(service);
    const visitor = new Visitor(service);
    await visitor.logIn(user.email, user.password);
    await visitor.get('/account/second-factor');
    await visitor.submit(SETUP);
    const code = codeOf(secretOn(await visitor.get(SETUP)));
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => visitor.copy().submit('/account/second-factor/enable', { code })),
    );
    expect(responses.flatMap(recoveryCodesOn)).toHaveLength(10);
    expect(await columnsOf(user)).toMatchObject({ recovery_codes: 10 });
    expect(await auditOf(service, user)).toEqual(['auth.login success', 'auth.two_factor_enable success']);
  });

  it('requires a login', async () => {
    for (const path of ['/account/second-factor', SETUP])
      expect((await new Visitor(service).get(path)).location).toBe(`/login?next=${encodeURIComponent(path)}`);
  });
});

describe('A second factor that the organization requires', () => {
  const REQUIRED =
    'Your organization requires two-factor authentication. Set it up at /account/second-factor.';
  /** @returns from when it is required, in milliseconds since 1970; 0 if it is not required */
  const requireIt = async (login: Login, required: boolean, days = 7): Promise<number> => {
    const fields = { required: required ? 'yes' : 'no', grace_period_days: String(days) };
    const { status } = await submitForm(service, login, '/dashboard/organization/second-factor', fields);
    expect(status).toBe(303);
    const [row] = await service.database.query<{ from: Date | null }>(
      'SELECT second_factor_required_from AS from FROM organization WHERE id = $1',
      [login.organizationId],
    );
    return row?.from?.getTime() ?? 0;
  };

  it('is set up before anything else, once the grace period has ended', async () => {
    const { id: organizationId } = await service.anotherOrganization();
    const owner = await service.login('owner', organizationId);
    const user = await addUser(service, organizationId);
    const visitor = new Visitor(service);
    await visitor.logIn(user.email, user.password);
    const from = await requireIt(owner, true, 2);
    expect(Math.round((from - Date.now() - ahead) / MINUTE)).toBe(2 * 24 * 60);
    // Requiring it again does not change the date.
    expect(await requireIt(owner, true, 0)).toBe(from);
    const account = await visitor.get('/account');
    expect([account.status, account.text]).toEqual([200, expect.stringContaining('before then.')]);

    expect(await requireIt(owner, false)).toBe(0);
    await requireIt(owner, true, 0);
    for (const path of ['/webhook-endpoints?environment=development', '/me']) {
      const api = await service.request(path, { login: owner });
      expect([api.status, api.body['error_code'], api.body['error_message']]).toEqual([
        403,
        'NO_ACCESS',
        REQUIRED,
      ]);
    }
    for (const path of ['/account', '/dashboard/allowed-domains', '/device'])
      expect((await visitor.get(path)).location).toBe('/account/second-factor');
    // The page of an unknown address shows nothing of the dashboard, either.
    const unknown = await visitor.get('/dashboard/no-such-page', { accept: 'text/html' });
    expect([unknown.status, unknown.text.includes('<nav aria-label="Main">')]).toEqual([404, false]);
    expect((await visitor.get('/account/second-factor')).text).toContain('Set it up to continue.');
    await visitor.submit(SETUP);
    const secret = secretOn(await visitor.get(SETUP));
    recoveryCodesOn(await visitor.submit('/account/second-factor/enable', { code: codeOf(secret) }));
    expect((await visitor.get('/account')).status).toBe(200);
  });
});

describe('A login with a second factor', () => {
  it('requires the password and a code, and gets a new token with the code', async () => {
    const user = await protectedUser();
    const visitor = await passFirstStep(user);
    const half = visitor.copy();
    // The first step alone grants no access.
    expect((await visitor.get('/account')).status).toBe(303);
    await visitor.get('/login/second-factor');
    const { location, headers } = await prove(visitor, {
      code: codeOf(user.secret),
      next: '/account/password',
    });
    expect(location).toBe('/account/password');
    expect(visitor.session).not.toBe(half.session);
    expect((await visitor.get('/account')).status).toBe(200);
    expect((await half.get('/account')).status).toBe(303);
    expect((await half.get('/login/second-factor')).location).toBe('/login');
    expect(await auditOf(service, user)).toEqual([
      'auth.login success',
      'auth.two_factor_enable success',
      'auth.login success',
    ]);
    expect(JSON.stringify(logLinesOf(headers.get('x-request-id')))).not.toContain(codeOf(user.secret));
  });

  it('does not count a code that the service could not check, and accepts it afterwards', async () => {
    const user = await protectedUser();
    const visitor = await passFirstStep(user);
    const code = codeOf(user.secret);
    const before = await countedAttempts(service);
    const audited = await auditOf(service, user);
    await whileDiskIsFull(service, ['dashboard_session'], async () =>
      expect((await prove(visitor, { code })).status).toBe(503),
    );
    expect([await countedAttempts(service), await auditOf(service, user)]).toEqual([before, audited]);
    expect((await prove(visitor, { code })).location).toBe('/dashboard');
  });

  it('keeps the destination over both steps', async () => {
    const user = await protectedUser();
    const visitor = new Visitor(service);
    const { location } = await visitor.logIn(user.email, user.password, '/device?a=b');
    expect(location).toBe(`/login/second-factor?next=${encodeURIComponent('/device?a=b')}`);
    expect((await visitor.get(location ?? '')).text).toContain('name="next" value="/device?a=b"');
    const redirected = await prove(visitor, { code: codeOf(user.secret), next: '//evil.example' });
    expect(redirected.location).toBe('/dashboard');
  });

  it.each([-1, 1])('accepts the code of a clock that is off by %i step', async (steps) => {
    const user = await protectedUser();
    expect((await prove(await passFirstStep(user), { code: codeOf(user.secret, steps) })).status).toBe(303);
  });

  it.each<[string, (secret: string) => string]>([
    ['of two steps ago', (secret) => codeOf(secret, -2)],
    ['of the step after the next', (secret) => codeOf(secret, 2)],
    ['that is empty', () => ''],
    ['of letters', () => 'ABCDEF'],
    ['of another secret', () => codeOf('JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP')],
  ])('rejects a code %s with a message', async (_of, code) => {
    const user = await protectedUser();
    const visitor = await passFirstStep(user);
    const { status, text } = await prove(visitor, { code: code(user.secret) });
    expect(status).toBe(403);
    expect(text).toContain('aria-invalid="true"');
    expect((await visitor.get('/account')).status).toBe(303);
  });

  it('rejects a code that was accepted before, and earlier codes', async () => {
    const user = await protectedUser();
    const [late, code, early] = [1, 0, -1].map((steps) => codeOf(user.secret, steps));
    expect((await prove(await passFirstStep(user), { code: code ?? '' })).status).toBe(303);
    expect((await prove(await passFirstStep(user), { code: code ?? '' })).status).toBe(403);
    expect((await prove(await passFirstStep(user), { code: early ?? '' })).status).toBe(403);
    expect((await prove(await passFirstStep(user), { code: late ?? '' })).status).toBe(303);
  });

  it('accepts a code once if one browser sends it in 20 concurrent requests, which all lead on', async () => {
    const user = await protectedUser();
    const visitor = await passFirstStep(user);
    const code = codeOf(user.secret);
    const responses = await Promise.all(Array.from({ length: 20 }, () => prove(visitor.copy(), { code })));
    expect(responses.filter(({ location }) => location === '/dashboard')).toHaveLength(20);
    expect(new Set(responses.map(({ headers }) => sessionIn(headers))).size).toBe(1);
    expect(await sessionsOf(service, user)).toBe(2);
  });

  it('accepts the same code from 1 of 20 concurrent logins', async () => {
    const user = await protectedUser();
    const visitors = await openManyLogins(user, 20);
    const code = codeOf(user.secret);
    const responses = await Promise.all(visitors.map((visitor) => prove(visitor, { code })));
    expect(responses.filter(({ location }) => location === '/dashboard')).toHaveLength(1);

    // The limit stopped most of them, so test the statement that decides between the others.
    const users = service.app.get(DashboardUsersRepository);
    const step = Math.floor((Date.now() + ahead) / STEP) + 1;
    const taken = await Promise.all(Array.from({ length: 20 }, () => users.acceptTotpStep(user.id, step)));
    expect(taken.filter(Boolean)).toHaveLength(1);
  });

  it('checks 5 of 30 codes that are sent concurrently', async () => {
    const user = await protectedUser();
    const visitor = await passFirstStep(user);
    const before = (await auditOf(service, user)).length;
    const responses = await Promise.all(
      Array.from({ length: 30 }, () => prove(visitor.copy(), { code: 'ABCDEF' })),
    );
    expect(statusesOf(responses)).toEqual([...Array(5).fill(403), ...Array(25).fill(429)]);
    const audited = (await auditOf(service, user)).slice(before).toSorted();
    // One entry stands for all refused attempts.
    expect(audited).toEqual(['auth.login denied', ...Array(5).fill('auth.login failure')]);

    // Now the correct code, a new login and a recovery code are rejected too.
    const again = await passFirstStep(user);
    const { status, headers } = await prove(again, { code: codeOf(user.secret) });
    expect(status).toBe(429);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(840);
    expect((await prove(again, { recovery_code: user.recoveryCodes[0] ?? '' })).status).toBe(429);
    expect(await columnsOf(user)).toMatchObject({ recovery_codes: 10 });
  });

  it('allows 10 minutes for the second step', async () => {
    const user = await protectedUser();
    const visitor = await passFirstStep(user);
    ahead += 11 * MINUTE;
    advanceClock();
    const late = await prove(visitor, { code: codeOf(user.secret) });
    expect(late.location).toBe('/login?again=code');
    expect((await visitor.get(late.location ?? '')).text).toContain('enter the code within 10 minutes');
    expect((await visitor.get('/login/second-factor')).location).toBe('/login');
  });

  it('ends between the steps when the user is disabled', async () => {
    const user = await protectedUser();
    const visitor = await passFirstStep(user);
    await disable(service, user);
    expect((await prove(visitor, { code: codeOf(user.secret) })).location).toBe('/login?again=code');
  });

  it('does not ask for a code before the password', async () => {
    const visitor = new Visitor(service);
    expect((await visitor.get('/login/second-factor?next=/device')).location).toBe('/login?next=%2Fdevice');
    await visitor.get('/login');
    expect((await prove(visitor, { code: '123456' })).location).toBe('/login?again=code');
  });
});

describe('A recovery code', () => {
  it('replaces a code of the app once, in any spelling', async () => {
    const user = await protectedUser();
    const [first = '', second = ''] = user.recoveryCodes;
    const visitor = await passFirstStep(user);
    expect((await prove(visitor, { recovery_code: first })).location).toBe('/dashboard');
    expect((await visitor.get('/account/second-factor')).text).toContain('You have 9 left');

    const again = await passFirstStep(user);
    const { status, text } = await prove(again, { recovery_code: first });
    expect(status).toBe(403);
    expect(text).toContain('<details open');
    const respelled = ` ${second.toLowerCase().replace('-', ' ')} `;
    expect((await prove(again, { recovery_code: respelled })).status).toBe(303);
  });

  it('works for exactly 1 of 20 concurrent logins', async () => {
    const user = await protectedUser();
    const [code = ''] = user.recoveryCodes;
    const visitors = await openManyLogins(user, 20);
    const responses = await Promise.all(visitors.map((visitor) => prove(visitor, { recovery_code: code })));
    expect(responses.filter(({ location }) => location === '/dashboard')).toHaveLength(1);
    expect(await columnsOf(user)).toMatchObject({ recovery_codes: 9 });

    const secondFactor = service.app.get(SecondFactorService);
    const [row] = await service.database.query('SELECT * FROM dashboard_user WHERE id = $1', [user.id]);
    const known = { ...(row as unknown as DashboardUser), totpEnabledAt: new Date(0) };
    const taken = await Promise.all(
      Array.from({ length: 20 }, () =>
        secondFactor.accepts(known, { recoveryCode: user.recoveryCodes[1] ?? '' }),
      ),
    );
    expect(taken.filter(Boolean)).toHaveLength(1);
  });

  it('does not work for another user', async () => {
    const [user, other] = [await protectedUser(), await protectedUser()];
    const visitor = await passFirstStep(user);
    expect((await prove(visitor, { recovery_code: other.recoveryCodes[0] ?? '' })).status).toBe(403);
    expect(await columnsOf(other)).toMatchObject({ recovery_codes: 10 });
  });

  it('is replaced on request after the password is confirmed', async () => {
    const user = await protectedUser();
    const renew = (password: string) =>
      user.visitor.fill('/account/second-factor', { password }, '/account/second-factor/recovery-codes');
    expect((await renew('wrong password')).status).toBe(403);
    const codes = recoveryCodesOn(await renew(user.password));
    expect(codes).toHaveLength(10);
    expect(codes.filter((code) => user.recoveryCodes.includes(code))).toEqual([]);
    const visitor = await passFirstStep(user);
    expect((await prove(visitor, { recovery_code: user.recoveryCodes[0] ?? '' })).status).toBe(403);
    expect((await prove(visitor, { recovery_code: codes[0] ?? '' })).status).toBe(303);
    const entries = (await auditOf(service, user)).filter((entry) => entry.includes('recovery_codes'));
    expect(entries).toEqual(['auth.recovery_codes_renew failure', 'auth.recovery_codes_renew success']);
  });
});

describe('Disabling the second factor', () => {
  const disable = (visitor: Visitor, password: string) =>
    visitor.fill(
      '/account/second-factor',
      { password_to_turn_off: password },
      '/account/second-factor/disable',
    );

  it('requires the password and deletes the secret and the recovery codes', async () => {
    const user = await protectedUser();
    const rejected = await disable(user.visitor, 'wrong password');
    expect(rejected.status).toBe(403);
    expect(rejected.text).toContain('id="password_to_turn_off-error"');
    expect((await disable(user.visitor, '')).status).toBe(403);
    expect((await disable(user.visitor, user.password)).location).toBe('/account/second-factor');
    expect(await columnsOf(user)).toEqual({
      totp_secret_sealed: null,
      totp_enabled_at: null,
      totp_last_step: null,
      recovery_codes: 0,
    });
    expect((await auditOf(service, user)).slice(2)).toEqual([
      'auth.two_factor_disable failure',
      'auth.two_factor_disable failure',
      'auth.two_factor_disable success',
    ]);
    expect((await new Visitor(service).logIn(user.email, user.password)).location).toBe('/dashboard');
    // A second request has no effect.
    expect((await disable(user.visitor, user.password)).location).toBe('/account/second-factor');
    expect(
      (await auditOf(service, user)).filter((entry) => entry.startsWith('auth.two_factor')),
    ).toHaveLength(4);
  });

  it('limits password attempts', async () => {
    const user = await protectedUser();
    const responses = await Promise.all(
      Array.from({ length: 15 }, () => disable(user.visitor.copy(), 'wrong password')),
    );
    expect(statusesOf(responses)).toEqual([...Array(10).fill(403), ...Array(5).fill(429)]);
    expect((await disable(user.visitor, user.password)).status).toBe(429);
    expect(await columnsOf(user)).toMatchObject({ recovery_codes: 10 });
  });

  it('changes nothing when the audit log cannot be written', async () => {
    const user = await protectedUser();
    await whileInsertsFail(service, 'audit_log', async () =>
      expect((await disable(user.visitor, user.password)).status).toBe(500),
    );
    expect(await columnsOf(user)).toMatchObject({ recovery_codes: 10 });
    expect((await new Visitor(service).logIn(user.email, user.password)).location).toBe(
      '/login/second-factor',
    );
  });
});
