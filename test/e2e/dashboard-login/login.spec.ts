import { createHash } from 'node:crypto';
import { DAY, HOUR, MINUTE } from '../../../src/infrastructure/time/index.js';
import { LoginService, PAUSES } from '../../../src/modules/dashboard-login/login/login.service.js';
import { PasswordsService } from '../../../src/modules/dashboard-login/passwords/passwords.service.js';
import { moveClock } from '../../support/clock.js';
import {
  addInvited,
  addUser,
  auditOf,
  disable,
  sessionsOf,
  someAddress,
  type TestUser,
} from '../../support/pages/dashboard-users.js';
import { mailsTo, mailTo } from '../../support/messages/mails.js';
import { countOf, startTestApp, useTestApp } from '../../support/test-app.js';
import { BEHIND_PROXY, Visitor, type PageResponse } from '../../support/pages/visitor.js';
import { whileInsertsFail } from '../../support/database/failing-inserts.js';

/** Milliseconds before the response to a failure. Timers may fire 1 ms early. */
const FAILURE_DELAY = 399;
const WRONG = 'wrong password';

const service = useTestApp(BEHIND_PROXY);

/** Makes failed logins take as long as in production until the end of the block. */
function usualPauses(): Disposable {
  const { pauses } = service.app.get(LoginService);
  const short = { ...pauses };
  Object.assign(pauses, PAUSES);
  return { [Symbol.dispose]: () => void Object.assign(pauses, short) };
}

const loggedIn = async (user: TestUser): Promise<Visitor> => {
  const visitor = new Visitor(service);
  expect((await visitor.logIn(user.email, user.password)).status).toBe(303);
  return visitor;
};

/** Returns the response without the parts that differ every time. */
const comparable = ({ status, headers, text }: PageResponse, email: string) => {
  const { date: _date, 'x-request-id': _id, ...rest } = Object.fromEntries(headers);
  return { status, headers: rest, text: text.replaceAll(email, 'ADDRESS') };
};

describe('POST /login', () => {
  it('opens a session and stores only a hash of its token', async () => {
    const user = await addUser(service);
    const visitor = new Visitor(service);
    const { status, location, headers } = await visitor.logIn(user.email, user.password);
    expect([status, location]).toEqual([303, '/dashboard']);
    expect(headers.get('cache-control')).toBe('no-store');

    const token = visitor.session ?? '';
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    const hash = createHash('sha256').update(token).digest();
    const rows = await service.database.query('SELECT * FROM dashboard_session WHERE token_hash = $1', [
      hash,
    ]);
    expect(rows).toMatchObject([
      { user_id: user.id, stage: 'complete', ip: visitor.ip, user_agent: 'visitor' },
    ]);
    expect(JSON.stringify(rows)).not.toContain(token);

    const account = await visitor.get('/account');
    expect(account.status).toBe(200);
    expect(account.text).toContain(user.email);
    expect(await auditOf(service, user)).toEqual(['auth.login success']);
  });

  it.each([
    ['on localhost', '127.0.0.1', 'session', false],
    ['on other hosts', 'dashboard.example.com', '__Host-session', true],
  ])(
    'sets a session cookie that scripts and other sites cannot read (%s)',
    async (_of, host, name, secure) => {
      const user = await addUser(service);
      const visitor = new Visitor(service, undefined, { 'x-forwarded-host': host });
      const before = Date.now();
      const { headers } = await visitor.logIn(user.email, user.password);
      const [cookie = ''] = headers.getSetCookie();
      const [pair = '', ...attributes] = cookie.split('; ');
      expect(pair.startsWith(`${name}=`)).toBe(true);
      const expires = attributes.find((each) => each.startsWith('Expires='))?.slice(8) ?? '';
      expect(attributes.filter((each) => !each.startsWith('Expires=')).toSorted()).toEqual([
        'HttpOnly',
        'Path=/',
        'SameSite=Lax',
        ...(secure ? ['Secure'] : []),
      ]);
      // Expires has whole seconds.
      expect(Date.parse(expires) - 12 * HOUR).toBeGreaterThan(before - 1_000);
      expect(Date.parse(expires) - 12 * HOUR).toBeLessThanOrEqual(Date.now() + 1_000);
    },
  );

  it('accepts the email in any case and with spaces around it', async () => {
    const user = await addUser(service);
    const { status } = await new Visitor(service).logIn(` ${user.email.toUpperCase()} `, user.password);
    expect(status).toBe(303);
  });

  it('opens a session for 12 hours', async () => {
    const visitor = await loggedIn(await addUser(service));
    {
      using _clock = moveClock(service, 12 * HOUR - MINUTE);
      expect((await visitor.get('/account')).status).toBe(200);
    }
    {
      using _clock = moveClock(service, 12 * HOUR + MINUTE);
      expect((await visitor.get('/account')).location).toBe('/login?next=%2Faccount');
    }
  });

  it('replaces an earlier session of the same browser (session fixation)', async () => {
    const user = await addUser(service);
    const visitor = new Visitor(service);
    visitor.cookies.set('session', 'planted');
    await visitor.logIn(user.email, user.password);
    const first = visitor.copy();
    expect(first.session).not.toBe('planted');

    // Logged-in users get the form too, because some operations require a recent login.
    const form = await visitor.get('/login');
    expect(form.status).toBe(200);
    expect(form.text).toContain('name="password"');
    expect((await visitor.submit('/login', { email: user.email, password: user.password })).status).toBe(303);
    expect(visitor.session).not.toBe(first.session);
    expect((await first.get('/account')).status).toBe(303);
    expect((await visitor.get('/account')).status).toBe(200);
    expect(await sessionsOf(service, user)).toBe(1);
  });

  it('keeps the browser known as long as the user logs in: its cookie begins anew', async () => {
    const visitor = new Visitor(service);
    const endsIn = ({ headers }: { readonly headers: Headers }): number[] =>
      headers
        .getSetCookie()
        .filter((cookie) => cookie.startsWith('browser='))
        .map((cookie) => Date.parse(/Expires=([^;]+)/.exec(cookie)?.[1] ?? '') - Date.now());
    for (let visit = 0; visit < 2; visit += 1) {
      const [left, ...more] = endsIn(await visitor.get('/login'));
      expect(more).toEqual([]);
      expect(left).toBeGreaterThan(364 * DAY);
    }
    const user = await addUser(service);
    await visitor.logIn(user.email, user.password);
    expect(endsIn(await visitor.get('/account'))).toEqual([]);
  });

  it('asks for a missing field and keeps the other one', async () => {
    const email = someAddress();
    const withoutPassword = await new Visitor(service).logIn(email, '');
    expect(withoutPassword.status).toBe(400);
    expect(withoutPassword.text).toContain(`value="${email}"`);
    expect(withoutPassword.text).toContain('aria-describedby="password-error"');
    const withoutAddress = await new Visitor(service).logIn('  ', 'password');
    expect(withoutAddress.status).toBe(400);
    expect(withoutAddress.text).toContain('aria-describedby="email-error"');
    expect(withoutAddress.text).not.toContain('value="password"');
  });

  it('opens no session when the audit log cannot be written', async () => {
    const user = await addUser(service);
    const visitor = new Visitor(service);
    await whileInsertsFail(service, 'audit_log', async () => {
      const { status, text, headers } = await visitor.logIn(user.email, user.password);
      expect(status).toBe(500);
      expect(text).not.toContain('unwritable');
      expect(headers.getSetCookie()).toEqual([]);
    });
    expect(visitor.session).toBeUndefined();
    expect(await sessionsOf(service, user)).toBe(0);
    expect((await visitor.logIn(user.email, user.password)).status).toBe(303);
  });
});

describe('A login in a new browser', () => {
  const notices = async (email: string) =>
    (await mailsTo(service, email)).filter((mail) => mail.includes('Subject: New login to your account'));

  it('is notified by email, once per browser', async () => {
    const user = await addUser(service);
    const visitor = await loggedIn(user);
    const mail = await mailTo(service, user.email, 'New login to your account');
    expect(mail).toContain(`IP address: ${visitor.ip}`);
    await visitor.logIn(user.email, user.password);
    expect(await notices(user.email)).toHaveLength(1);
    await loggedIn(user);
    expect(await notices(user.email)).toHaveLength(2);
  });
});

describe('The redirect after a login', () => {
  it('opens the page that required the login', async () => {
    const user = await addUser(service);
    const visitor = new Visitor(service);
    const asked = await visitor.get('/account/second-factor?a=b');
    expect(asked.location).toBe(`/login?next=${encodeURIComponent('/account/second-factor?a=b')}`);
    const form = await visitor.get(asked.location ?? '');
    expect(form.text).toContain('name="next" value="/account/second-factor?a=b"');
    const done = await visitor.submit('/login', {
      email: user.email,
      password: user.password,
      next: '/account/second-factor?a=b',
    });
    expect(done.location).toBe('/account/second-factor?a=b');
  });

  it('opens the page without its query if that would not fit into the buffer of a proxy', async () => {
    const visitor = new Visitor(service);
    for (const query of ['x'.repeat(6_000), '/'.repeat(1_200), 'ä'.repeat(600)]) {
      const { status, location } = await visitor.get(`/account/second-factor?a=${query}`);
      expect({ status, location }).toEqual({ status: 303, location: '/login' });
    }
  });

  it.each([
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '/\t/evil.example',
    '/a/..//evil.example',
  ])('ignores %j and opens the dashboard', async (next) => {
    const user = await addUser(service);
    const visitor = new Visitor(service);
    const page = await visitor.get(`/login?next=${encodeURIComponent(next)}`);
    expect(page.text).toContain('name="next" value="/dashboard"');
    const { location } = await visitor.submit('/login', { email: user.email, password: user.password, next });
    expect(location).toBe('/dashboard');
  });
});

describe('A failed login', () => {
  const existing = () => addUser(service);
  const disabled = async () => {
    const user = await addUser(service);
    await disable(service, user);
    return user;
  };
  const invited = () => addInvited(service);
  const unknown = () => Promise.resolve({ email: someAddress() });

  it('gets the same response for active, disabled, invited and unknown accounts', async () => {
    using _pauses = usualPauses();
    const visitor = new Visitor(service);
    await visitor.get('/login');
    const check = service.app.get(PasswordsService);
    const isCorrect = check.isCorrect.bind(check);
    let checked = 0;
    check.isCorrect = (...values) => {
      checked += 1;
      return isCorrect(...values);
    };
    const responses: ReturnType<typeof comparable>[] = [];
    for (const make of [existing, unknown, disabled, invited]) {
      const user = await make();
      const startedAt = performance.now();
      const response = await visitor.logIn(user.email, WRONG);
      expect(performance.now() - startedAt).toBeGreaterThan(FAILURE_DELAY);
      responses.push(comparable(response, user.email));
    }
    check.isCorrect = isCorrect;
    expect(checked).toBe(4);
    expect(responses[0]).toMatchObject({ status: 403, text: expect.stringContaining('is wrong') });
    expect(responses).toEqual(responses.map(() => responses[0]));
  });

  it('gets the same response for the correct password of a disabled user', async () => {
    const visitor = new Visitor(service);
    await visitor.get('/login');
    const user = (await disabled()) as TestUser;
    const right = await visitor.logIn(user.email, user.password);
    const other = await unknown();
    expect(comparable(right, user.email)).toEqual(
      comparable(await visitor.logIn(other.email, WRONG), other.email),
    );
    expect(visitor.session).toBeUndefined();
    expect(await auditOf(service, user)).toEqual(['auth.login denied']);
  });

  it('verifies a hash of the same cost when there is no account', async () => {
    const user = await addUser(service);
    const [row] = await service.database.query<{ password_hash: string }>(
      'SELECT password_hash FROM dashboard_user WHERE id = $1',
      [user.id],
    );
    const check = service.app.get(PasswordsService);
    expect(await check.isCorrect(undefined, user.password)).toBe(false);
    expect(await check.isCorrect(null, user.password)).toBe(false);
    expect(await check.isCorrect(row?.password_hash, user.password)).toBe(true);
    const dummy = await (check as unknown as { dummy: () => Promise<string> }).dummy();
    expect(dummy.split('$').slice(0, 4)).toEqual(row?.password_hash.split('$').slice(0, 4));
    expect(dummy).toMatch(/^\$argon2id\$/);
  });

  it('is audited with the IP address, without the port that a proxy added, if the account exists', async () => {
    const user = await addUser(service);
    const visitor = new Visitor(service, '203.0.113.9:50001');
    await visitor.logIn(user.email, WRONG);
    const rows = await service.database.query('SELECT * FROM audit_log WHERE actor_email = $1', [user.email]);
    expect(rows).toMatchObject([
      {
        organization_id: service.organizationId,
        action: 'auth.login',
        outcome: 'failure',
        actor_name: 'Ada',
        target_type: 'user',
        target_name: user.email,
        context_ip: '203.0.113.9',
        context_user_agent: 'visitor',
      },
    ]);
  });

  it.each([
    ['no email', ''],
    ['300 characters', 'x'.repeat(300)],
    ['an address that is too long', `${'a'.repeat(300)}@example.com`],
    ['an address with a quotation mark', `o'hara@example.com`],
    ['an address outside of ASCII', 'ünïcode@exämple.com'],
  ])('is a regular response for %s', async (_what, email) => {
    expect([400, 403]).toContain((await new Visitor(service).logIn(email, WRONG)).status);
  });

  it('shows the entered email as text', async () => {
    const { text } = await new Visitor(service).logIn('"><script>alert(1)</script>', WRONG);
    expect(text).not.toContain('<script>');
  });
});

describe('Password attempts', () => {
  const attempts = (make: () => Visitor, count: number, email: (index: number) => string) =>
    Promise.all(Array.from({ length: count }, (_, index) => make().logIn(email(index), WRONG)));
  it('are limited to 10 per account and IP address, whether or not the account exists', async () => {
    const user = await addUser(service);
    const unknown = { email: someAddress() };
    const ips: string[] = [];
    for (const { email } of [user, unknown]) {
      const { ip } = new Visitor(service);
      ips.push(ip);
      const responses = await attempts(
        () => new Visitor(service, ip),
        30,
        () => email,
      );
      expect([countOf(responses, 403), countOf(responses, 429)]).toEqual([10, 20]);
    }
    const audited = await auditOf(service, user);
    expect(audited.filter((entry) => entry.endsWith('failure'))).toHaveLength(10);
    // One entry stands for all refused attempts.
    expect(audited.filter((entry) => entry.endsWith('denied'))).toHaveLength(1);

    // The correct password gets the same response as an unknown account.
    const rejected = [
      comparable(await new Visitor(service, ips[0]).logIn(user.email, user.password), user.email),
      comparable(await new Visitor(service, ips[1]).logIn(unknown.email, WRONG), unknown.email),
    ].map(({ headers: { 'retry-after': wait, ...headers }, ...response }) => {
      expect(Number(wait)).toBeGreaterThan(840);
      expect(Number(wait)).toBeLessThanOrEqual(900);
      return { ...response, headers, text: response.text.replaceAll(/value="[\w-]{43}"/g, '') };
    });
    expect(rejected[0]).toMatchObject({
      status: 429,
      text: expect.stringContaining('Try again in 15 minutes'),
    });
    expect(rejected[1]).toEqual(rejected[0]);
  });

  it('by others do not lock out the owner of the account', async () => {
    const user = await addUser(service);
    const known = await loggedIn(user);
    const failed = await attempts(
      () => new Visitor(service),
      10,
      () => user.email,
    );
    expect(countOf(failed, 403)).toBe(10);

    // A new browser at a new address is slowed down.
    const pauses = usualPauses();
    const startedAt = performance.now();
    const delayed = loggedIn(user).then(() => 'delayed');
    expect(await Promise.race([known.copy().logIn(user.email, user.password), delayed])).toMatchObject({
      status: 303,
    });
    await delayed;
    expect(performance.now() - startedAt).toBeGreaterThan(2_999);
    pauses[Symbol.dispose]();

    // 100 failures per hour is the limit for browsers that the user has not logged in with.
    const more = await attempts(
      () => new Visitor(service),
      105,
      () => user.email,
    );
    expect([countOf(more, 403), countOf(more, 429)]).toEqual([100, 5]);
    expect((await new Visitor(service).logIn(user.email, user.password)).status).toBe(429);
    expect((await known.logIn(user.email, user.password)).status).toBe(303);
  });

  it('are limited to 10 in a browser that the user has logged in with, separately from other browsers', async () => {
    const user = await addUser(service);
    const known = await loggedIn(user);
    const responses: PageResponse[] = [];
    for (let attempt = 0; attempt < 12; attempt += 1) responses.push(await known.logIn(user.email, WRONG));
    expect([countOf(responses, 403), countOf(responses, 429)]).toEqual([10, 2]);
    // Another user's browser at the same address is not affected.
    expect((await new Visitor(service, known.ip).logIn(user.email, user.password)).status).toBe(303);
    // The cookie of the browser alone does not make it known to another account.
    const other = await addUser(service);
    const wrong: PageResponse[] = [];
    for (let attempt = 0; attempt < 11; attempt += 1) wrong.push(await known.logIn(other.email, WRONG));
    expect([countOf(wrong, 403), countOf(wrong, 429)]).toEqual([10, 1]);
  });

  it('count only if they fail', async () => {
    const users = await Promise.all(Array.from({ length: 6 }, () => addUser(service)));
    const { ip } = new Visitor(service);
    for (let round = 0; round < 10; round += 1) {
      const responses = await Promise.all(
        users.map(({ email, password }) => new Visitor(service, ip).logIn(email, password)),
      );
      expect(countOf(responses, 303)).toBe(6);
    }
  });

  it('are reset by a successful login', async () => {
    const user = await addUser(service);
    for (let round = 0; round < 2; round += 1) {
      const responses = await attempts(
        () => new Visitor(service),
        9,
        () => user.email,
      );
      expect(countOf(responses, 403)).toBe(9);
      await loggedIn(user);
    }
  });

  it('are limited to 50 per IP address, for all accounts', async () => {
    const { ip } = new Visitor(service);
    // As proxies write it, with a port that is different every time.
    let port = 50_000;
    const spelling = (): string => `${ip}:${(port += 1)}`;
    const responses = await attempts(() => new Visitor(service, spelling()), 50, someAddress);
    expect(countOf(responses, 403)).toBe(50);
    const user = await addUser(service);
    const { status, headers } = await new Visitor(service, ip).logIn(user.email, user.password);
    expect(status).toBe(429);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(3_400);
    expect(await auditOf(service, user)).toEqual(['auth.login denied']);
    // From now on, no request of a stranger adds a row.
    const rows = (): Promise<unknown[]> =>
      service.database.query('SELECT key FROM attempt_count ORDER BY key');
    const before = await rows();
    expect(countOf(await attempts(() => new Visitor(service, spelling()), 5, someAddress), 429)).toBe(5);
    expect(await rows()).toEqual(before);
    await loggedIn(user);
  });

  it('count an IPv6 network as one address', async () => {
    const responses = await attempts(
      () => new Visitor(service, `2001:db8:1:2::${Math.floor(Math.random() * 0xffff).toString(16)}`),
      51,
      someAddress,
    );
    expect([countOf(responses, 403), countOf(responses, 429)]).toEqual([50, 1]);
    const neighbour = new Visitor(service, '2001:db8:1:3::1');
    expect((await neighbour.logIn(someAddress(), WRONG)).status).toBe(403);
  });
});

describe('A form', () => {
  const send = async (visitor: Visitor, fields: Record<string, string>, headers?: Record<string, string>) => {
    const user = await addUser(service);
    const response = await visitor.submit(
      '/login',
      { email: user.email, password: user.password, ...fields },
      headers,
    );
    expect(visitor.session).toBeUndefined();
    expect(await sessionsOf(service, user)).toBe(0);
    expect(await auditOf(service, user)).toEqual([]);
    return response.status;
  };
  const prepared = async () => {
    const visitor = new Visitor(service);
    await visitor.get('/login');
    return visitor;
  };
  const tokenOf = (page: PageResponse) => /name="form_token" value="([\w-]+)"/.exec(page.text)?.[1] ?? '';

  it('is rejected without the anti-forgery token', async () => {
    expect(await send(await prepared(), { form_token: '' })).toBe(403);
    expect(await send(await prepared(), { form_token: 'x' })).toBe(403);
  });

  it('is rejected without the browser cookie', async () => {
    const visitor = await prepared();
    visitor.cookies.clear();
    expect(await send(visitor, {})).toBe(403);
  });

  it('is rejected with the token of another browser', async () => {
    const token = tokenOf(await new Visitor(service).get('/login'));
    expect(await send(await prepared(), { form_token: token })).toBe(403);
  });

  it('is rejected if the user has logged in since, or logged in again', async () => {
    const user = await addUser(service);
    const visitor = await prepared();
    const before = tokenOf(await visitor.get('/login'));
    await visitor.submit('/login', { email: user.email, password: user.password });
    const first = tokenOf(await visitor.get('/account'));
    expect((await visitor.submit('/account/sessions/end-others', { form_token: before })).status).toBe(403);
    await visitor.logIn(user.email, user.password);
    expect((await visitor.submit('/account/sessions/end-others', { form_token: first })).status).toBe(403);
    expect((await visitor.get('/account')).status).toBe(200);
  });

  it.each<[string, Record<string, string>]>([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['a neighbouring host', { 'sec-fetch-site': 'same-site' }],
    ['another origin', { origin: 'https://evil.example' }],
    ['nowhere', { origin: 'null' }],
  ])('is rejected if it was sent by a page of %s', async (_of, headers) => {
    expect(await send(await prepared(), {}, headers)).toBe(403);
  });

  it('is accepted from our own page', async () => {
    const { origin } = new URL(service.baseUrl);
    for (const headers of [{ 'sec-fetch-site': 'same-origin' }, { origin }] as Record<string, string>[]) {
      const user = await addUser(service);
      const visitor = await prepared();
      const fields = { email: user.email, password: user.password };
      expect((await visitor.submit('/login', fields, headers)).status).toBe(303);
    }
  });

  it('is rejected if it is not URL-encoded', async () => {
    expect(await send(await prepared(), {}, { 'content-type': 'text/plain' })).toBe(400);
  });
});

describe('POST /logout', () => {
  it('ends the session in the browser and for copies of its cookie', async () => {
    const user = await addUser(service);
    const visitor = await loggedIn(user);
    await visitor.get('/account');
    const copy = visitor.copy();
    const { status, location } = await visitor.submit('/logout');
    expect([status, location]).toEqual([303, '/login']);
    expect(visitor.session).toBeUndefined();
    expect((await copy.get('/account')).status).toBe(303);
    expect(await auditOf(service, user)).toEqual(['auth.login success', 'auth.logout success']);
    // A second request has no effect.
    expect((await copy.submit('/logout')).location).toBe('/login');
    expect(await auditOf(service, user)).toHaveLength(2);
  });

  it('requires a form', async () => {
    const visitor = await loggedIn(await addUser(service));
    expect((await visitor.get('/logout')).status).toBe(405);
    expect((await visitor.get('/account')).status).toBe(200);
  });
});

describe('A user', () => {
  it('loses access immediately when disabled', async () => {
    const user = await addUser(service);
    const visitor = await loggedIn(user);
    await disable(service, user);
    expect((await visitor.get('/account')).status).toBe(303);
  });

  it('loses access immediately when removed', async () => {
    const user = await addUser(service);
    const visitor = await loggedIn(user);
    await service.database.query('DELETE FROM dashboard_user WHERE id = $1', [user.id]);
    expect((await visitor.get('/account')).status).toBe(303);
    expect((await visitor.logIn(user.email, user.password)).status).toBe(403);
  });
});

it.each([
  ['one character', 'x'],
  ['5,000 characters', 'x'.repeat(5_000)],
  ['an encoded NUL', '%00'],
  ['a semicolon', 'a;b'],
])('An invalid session cookie (%s) is ignored', async (_what, value) => {
  const visitor = new Visitor(service);
  visitor.cookies.set('session', value);
  expect((await visitor.get('/account')).location).toBe('/login?next=%2Faccount');
});

it.each(['/login', '/password-reset', '/account', '/account/password'])(
  'GET %s responds 404 where the dashboard is not served',
  async (path) => {
    await using platform = await startTestApp({ SURFACES: 'platform' });
    expect((await new Visitor(platform).get(path)).status).toBe(404);
  },
);
