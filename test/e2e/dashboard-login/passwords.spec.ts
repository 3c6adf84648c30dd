import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { Sealer } from '../../../src/infrastructure/crypto/index.js';
import { DAY, HOUR, MINUTE } from '../../../src/infrastructure/time/index.js';
import { PasswordLinksService } from '../../../src/modules/dashboard-login/index.js';
import { PasswordResetsJob } from '../../../src/modules/dashboard-login/passwords/password-resets.job.js';
import { PasswordResetsService } from '../../../src/modules/dashboard-login/passwords/password-resets.service.js';
import { EmailsRepository } from '../../../src/modules/dashboard-users/index.js';
import { BackgroundTasks } from '../../../src/infrastructure/http/index.js';
import { Mailer } from '../../../src/infrastructure/messages/index.js';
import { EmailsJob } from '../../../src/modules/dashboard-users/emails/emails.job.js';
import { auditedBy } from '../../support/logs/audited.js';
import { moveClock } from '../../support/clock.js';
import {
  addInvited,
  addUser,
  auditOf,
  changeInTurn,
  disable,
  sessionsOf,
  someAddress,
  type TestUser,
  INVITER,
} from '../../support/pages/dashboard-users.js';
import { logLines } from '../../support/logs/log-lines.js';
import { mailsTo, mailTo, sendEmails, tokenIn } from '../../support/messages/mails.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { SmtpServer } from '../../support/messages/smtp-server.js';
import { startTestApp, useTestApp, type TestApp } from '../../support/test-app.js';
import { totpCode } from '../../support/logins/totp.js';
import { BEHIND_PROXY, Visitor, type PageResponse } from '../../support/pages/visitor.js';
import { watchStatements } from '../../support/database/statements.js';
import { whileInsertsFail } from '../../support/database/failing-inserts.js';

const NEW_PASSWORD = 'correct horse battery staple';
const RESET = 'Set a new password';
const INVITATION = 'Your invitation';
const CHANGED = 'Your password was changed';
const EMAILS_OF = 'SELECT 1 FROM outgoing_email WHERE user_id = $1';

const service = useTestApp(BEHIND_PROXY);

beforeAll(async () => {
  rememberSecret(NEW_PASSWORD);
});

const ask = (email: string, visitor = new Visitor(service)) => visitor.fill('/password-reset', { email });

async function linkFor(email: string, visitor?: Visitor): Promise<string> {
  await service.database.query(`DELETE FROM password_link`);
  const known = new Set(await mailsTo(service, email));
  expect((await ask(email, visitor)).status).toBe(200);
  for (;;) {
    const mail = (await mailsTo(service, email)).find((each) => !known.has(each) && each.includes(RESET));
    if (mail) return tokenIn(mail);
    await pause(20);
  }
}

const confirmPath = (token: string) => `/password-reset/confirm?token=${token}`;

async function set(token: string, password = NEW_PASSWORD): Promise<PageResponse> {
  const visitor = new Visitor(service);
  await visitor.get('/password-reset');
  return visitor.submit('/password-reset/confirm', { token, new_password: password });
}

const comparable = ({ status, headers, text }: PageResponse, email: string) => {
  const { date: _date, 'x-request-id': _id, ...rest } = Object.fromEntries(headers);
  return { status, headers: rest, text: text.replaceAll(email, 'ADDRESS') };
};

const canLogIn = async ({ email }: { email: string }, password: string): Promise<boolean> =>
  (await new Visitor(service).logIn(email, password)).status === 303;

describe('POST /password-reset', () => {
  it('emails a link that sets a password and ends all sessions, then notifies the user', async () => {
    const user = await addUser(service);
    const elsewhere = new Visitor(service);
    await elsewhere.logIn(user.email, user.password);
    const token = await linkFor(user.email);
    const rows = await service.database.query('SELECT * FROM password_link');
    expect(rows).toMatchObject([
      { token_hash: createHash('sha256').update(token).digest(), user_id: user.id },
    ]);

    const visitor = new Visitor(service);
    const form = await visitor.get(confirmPath(token));
    expect(form.status).toBe(200);
    expect(form.text).toContain('autocomplete="new-password"');
    expect(form.headers.get('referrer-policy')).toBe('same-origin');
    const done = await visitor.submit('/password-reset/confirm', { token, new_password: NEW_PASSWORD });
    expect(done.location).toBe('/password-reset/done');
    expect((await visitor.get('/password-reset/done')).text).toContain('href="/login"');

    expect((await elsewhere.get('/account')).status).toBe(303);
    expect(await sessionsOf(service, user)).toBe(0);
    expect(await auditOf(service, user)).toEqual(['auth.login success', 'auth.password_reset success']);
    const mail = await mailTo(service, user.email, CHANGED);
    expect(mail).not.toContain(NEW_PASSWORD);
    expect(await canLogIn(user, user.password)).toBe(false);
    expect(await canLogIn(user, NEW_PASSWORD)).toBe(true);
  });

  it('gets the same response for active, disabled, invited and unknown accounts', async () => {
    const visitor = new Visitor(service);
    await visitor.get('/password-reset');
    const disabled = await addUser(service);
    await disable(service, disabled);
    const existing = await addUser(service);
    const others = [{ email: someAddress() }, disabled, await addInvited(service)];
    const responses: ReturnType<typeof comparable>[] = [];
    for (const { email } of [...others, existing])
      responses.push(comparable(await ask(email, visitor), email));
    expect(responses[0]?.status).toBe(200);
    expect(responses).toEqual(responses.map(() => responses[0]));

    await mailTo(service, existing.email, RESET);
    for (const { email } of others) expect(await mailsTo(service, email)).toEqual([]);
  });

  it('responds before the account is looked up', async () => {
    const user = await addUser(service);
    const blocker = new pg.Client({ connectionString: service.database.url });
    await blocker.connect();
    await blocker.query('BEGIN; LOCK TABLE dashboard_user, password_link IN ACCESS EXCLUSIVE MODE');
    try {
      for (const email of [user.email, someAddress()]) expect((await ask(email)).status).toBe(200);
      expect(await service.database.query(EMAILS_OF, [user.id])).toEqual([]);
    } finally {
      await blocker.end();
    }
    await mailTo(service, user.email, RESET);
  });

  it('asks for a missing email', async () => {
    const { status, text } = await ask(' ');
    expect(status).toBe(400);
    expect(text).toContain('aria-describedby="email-error"');
  });

  it('is limited per account, whether or not it exists, and per IP address', async () => {
    const visitor = new Visitor(service);
    await visitor.get('/password-reset');
    const rejected: ReturnType<typeof comparable>[] = [];
    for (const { email } of [await addUser(service), { email: someAddress() }]) {
      const responses = await Promise.all(Array.from({ length: 5 }, () => ask(email)));
      expect(responses.map(({ status }) => status)).toEqual(Array(5).fill(200));
      const response = comparable(await ask(email, visitor), email);
      expect(Number(response.headers['retry-after'])).toBeGreaterThan(3_400);
      rejected.push({ ...response, headers: { ...response.headers, 'retry-after': '' } });
    }
    expect(rejected[0]?.status).toBe(429);
    expect(rejected[1]).toEqual(rejected[0]);

    const { ip } = new Visitor(service);
    const responses = await Promise.all(
      Array.from({ length: 21 }, () => ask(someAddress(), new Visitor(service, ip))),
    );
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(1);
  });

  it('rejects a form without the anti-forgery token', async () => {
    const visitor = new Visitor(service);
    const user = await addUser(service);
    expect((await visitor.submit('/password-reset', { email: user.email })).status).toBe(403);
    expect(await mailsTo(service, user.email)).toEqual([]);
  });

  it('links to the configured address, whatever the Host header says', async () => {
    const user = await addUser(service);
    const visitor = new Visitor(service, undefined, { 'x-forwarded-host': 'evil.example' });
    visitor.cookies.set('__Host-browser', 'x'.repeat(22));
    await ask(user.email, visitor);
    expect(await mailTo(service, user.email, RESET)).toContain(
      `\r\n${service.baseUrl}/password-reset/confirm?`,
    );
  });
});

describe('A password link', () => {
  let user: TestUser;
  beforeEach(async () => {
    user = await addUser(service);
  });

  // During an upgrade, and after a rollback, processes of 0.3.0 use up the same links.
  it('is used up in version 0.3.0, too, which can replace it with a link that works', async () => {
    const user = await addUser(service);
    const token = await linkFor(user.email);
    expect((await set(token)).location).toBe('/password-reset/done');
    const hashOf = (text: string) => createHash('sha256').update(text).digest();
    const taken = await service.database.query(
      'DELETE FROM password_link WHERE token_hash = $1 AND expires_at > now() RETURNING user_id',
      [hashOf(token)],
    );
    expect(taken).toEqual([]);
    // No text has the hash of a used link.
    const [used] = await service.database.query<{ token_hash: Buffer }>(
      'SELECT token_hash FROM password_link WHERE user_id = $1',
      [user.id],
    );
    expect(used?.token_hash).toHaveLength(hashOf('').length + 1);

    const next = randomBytes(32).toString('base64url');
    await service.database.query(
      `INSERT INTO password_link (token_hash, user_id, expires_at) VALUES ($1, $2, now() + interval '1 hour')
       ON CONFLICT (user_id) DO UPDATE SET token_hash = EXCLUDED.token_hash, expires_at = EXCLUDED.expires_at`,
      [hashOf(next), user.id],
    );
    const responses = await Promise.all(Array.from({ length: 20 }, () => set(next)));
    expect(responses.filter(({ location }) => location === '/password-reset/done')).toHaveLength(1);
  });

  it('is not used up by opening it or by a rejected password', async () => {
    const token = await linkFor(user.email);
    for (let time = 0; time < 3; time += 1) {
      expect((await new Visitor(service).get(confirmPath(token))).status).toBe(200);
    }
    for (const password of ['', 'too short 7', 'x'.repeat(257)]) {
      const { status, text } = await set(token, password);
      expect(status).toBe(400);
      expect(text).toContain('Choose a password of 12 to 256 characters.');
      if (password !== '') expect(text).not.toContain(password);
    }
    expect((await set(token)).location).toBe('/password-reset/done');
  });

  it.each([
    ['123456789012', 'this one is in lists of common passwords'],
    ['password1234', 'this one is in lists of common passwords'],
    ['Password1234', 'this one is in lists of common passwords'],
    ['zqzqzqzqzqzqz1', 'this one repeats or counts up its characters'],
    ['Test-Organization1', 'the name of your organization'],
    ['EMAIL', 'this one consists mainly of your email address'],
  ])('does not set the password %s', async (given, problem) => {
    const password = given === 'EMAIL' ? user.email : given;
    const { status, text } = await set(await linkFor(user.email), password);
    expect(status).toBe(400);
    expect(text).toContain(problem);
    const visitor = new Visitor(service);
    await visitor.logIn(user.email, user.password);
    const fields = { current_password: user.password, new_password: password };
    const changed = await visitor.fill('/account/password', fields);
    expect(changed.status).toBe(400);
    expect(changed.text).toContain(problem);
    expect(await canLogIn(user, user.password)).toBe(true);
  });

  it.each([
    ['of 256 characters', 'brave new mulberries '.repeat(13).slice(0, 256)],
    ['of 12 characters outside the basic plane', '😀🍇🚲🎻🦉🌋🧭🪁🎲🐙🛶🍋'],
    ['with spaces at the ends', ' spaces at the ends count '],
  ])('sets a password %s', async (_what, password) => {
    expect((await set(await linkFor(user.email), password)).location).toBe('/password-reset/done');
    expect(await canLogIn(user, password)).toBe(true);
    expect(await canLogIn(user, password.slice(0, -1))).toBe(false);
  });

  it('sets a password that other keyboards encode differently', async () => {
    await set(await linkFor(user.email), 'Käsebrötchen mit Salz'.normalize('NFD'));
    expect(await canLogIn(user, 'Käsebrötchen mit Salz'.normalize('NFC'))).toBe(true);
  });

  it('works for exactly 1 of 20 concurrent requests', async () => {
    const token = await linkFor(user.email);
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => set(token, `password number ${index}`)),
    );
    expect(responses.map(({ status }) => status).toSorted()).toEqual([303, ...Array(19).fill(400)]);
    const winner = responses.findIndex(({ status }) => status === 303);
    expect(await canLogIn(user, `password number ${winner}`)).toBe(true);
    expect(await auditOf(service, user)).toEqual(['auth.password_reset success', 'auth.login success']);
    expect((await new Visitor(service).get(confirmPath(token))).status).toBe(400);
  });

  it('expires after 30 minutes', async () => {
    const token = await linkFor(user.email);
    {
      using _clock = moveClock(service, 30 * MINUTE + 1_000);
      expect((await new Visitor(service).get(confirmPath(token))).status).toBe(400);
      expect((await set(token)).status).toBe(400);
    }
    {
      using _clock = moveClock(service, 29 * MINUTE);
      expect((await set(token)).status).toBe(303);
    }
  });

  it('expires also while its request waits for another one', async () => {
    const token = await linkFor(user.email);
    let clock: Disposable | undefined;
    const expire = () => void (clock = moveClock(service, 31 * MINUTE));
    const late = await changeInTurn(service, user, [() => set(token)], expire);
    clock?.[Symbol.dispose]();
    expect(late?.status).toBe(400);
    expect(await canLogIn(user, NEW_PASSWORD)).toBe(false);
  });

  it('is replaced by a newer link', async () => {
    const first = await linkFor(user.email);
    const known = (await mailsTo(service, user.email)).length;
    await ask(user.email);
    while ((await mailsTo(service, user.email)).length === known) await pause(20);
    expect((await set(first)).status).toBe(400);
    const tokens = (await mailsTo(service, user.email)).map(tokenIn);
    const second = tokens.find((token) => token !== first) ?? '';
    expect((await set(second)).status).toBe(303);
  });

  it('does not work while the user is disabled, or after the user was removed', async () => {
    const token = await linkFor(user.email);
    await disable(service, user);
    expect((await set(token)).text).toContain('This link doesn’t work');
    await service.database.query('UPDATE dashboard_user SET disabled_at = NULL WHERE id = $1', [user.id]);
    expect((await set(token)).status).toBe(303);
    const other = await addUser(service);
    const lost = await linkFor(other.email);
    await service.database.query('DELETE FROM dashboard_user WHERE id = $1', [other.id]);
    expect((await set(lost)).status).toBe(400);
  });

  it.each([
    ['empty', ''],
    ['one character', 'x'],
    ['5,000 characters', 'x'.repeat(5_000)],
    ['given twice', '&token=a'],
    ['an encoded NUL', '%00'],
  ])('is reported as invalid when its token is %s', async (_what, token) => {
    const { status, text } = await new Visitor(service).get(confirmPath(token));
    expect(status).toBe(400);
    if (token !== '%00') expect(text).toContain('This link doesn’t work');
    if (token !== '%00') expect((await set(token)).status).toBe(400);
  });

  it('lifts the limit on password attempts, but does not skip the second factor', async () => {
    await Promise.all(
      Array.from({ length: 101 }, () => new Visitor(service).logIn(user.email, 'wrong password')),
    );
    expect(await canLogIn(user, user.password)).toBe(false);
    await service.database.query('UPDATE dashboard_user SET totp_enabled_at = now() WHERE id = $1', [
      user.id,
    ]);
    await set(await linkFor(user.email));
    const { location } = await new Visitor(service).logIn(user.email, NEW_PASSWORD);
    expect(location).toBe('/login/second-factor');
  });

  it('sets no password when the audit log cannot be written', async () => {
    const token = await linkFor(user.email);
    await whileInsertsFail(
      service,
      'audit_log',
      async () => expect((await set(token)).status).toBe(500),
      "NEW.action = 'auth.password_reset'",
    );
    expect(await canLogIn(user, user.password)).toBe(true);
    expect((await set(token)).status).toBe(303);
  });
});

describe('An invitation', () => {
  const invite = async (email?: string) => {
    const invited = await addInvited(service, email);
    await service.app.get(PasswordLinksService).invite(invited, INVITER);
    const mail = await mailTo(service, invited.email, INVITATION);
    return { ...invited, mail, token: tokenIn(mail) };
  };

  it('sets the first password within 7 days', async () => {
    const invited = await invite();
    // No sentence ends with a name, which may end with a period.
    expect(invited.mail).toContain('Test organization has invited you to its dashboard.');
    expect(invited.mail).toContain('Invited by: Maya Okafor (maya@example.com)');
    expect(invited.mail).toContain('Your role: Member: manages webhook endpoints');
    {
      using _clock = moveClock(service, 7 * DAY - HOUR);
      expect(await canLogIn(invited, NEW_PASSWORD)).toBe(false);
      const { text } = await new Visitor(service).get(confirmPath(invited.token));
      expect(text).toMatch(/Welcome to the dashboard of [^<]+</);
      expect(text).toContain(`You were invited as Ada (${invited.email}).`);
      // The new user is logged in.
      expect((await set(invited.token)).location).toBe('/dashboard');
      expect(await canLogIn(invited, NEW_PASSWORD)).toBe(true);
    }
    expect(await auditOf(service, invited)).toEqual([
      'auth.password_reset success',
      'auth.login success',
      'auth.login success',
    ]);
  });

  it('expires after 7 days', async () => {
    const { token } = await invite();
    using _clock = moveClock(service, 7 * DAY + HOUR);
    expect((await set(token)).status).toBe(400);
  });

  it('is not replaced by a request for a new password', async () => {
    const { email, token } = await invite();
    await ask(email);
    await pause(100);
    expect((await set(token)).status).toBe(303);
  });

  it('reports an account in another organization only on its own page, and stays valid', async () => {
    const other = await service.anotherOrganization();
    const taken = await addUser(service, other.id);
    const invited = await invite(taken.email);
    expect((await new Visitor(service).get(confirmPath(invited.token))).text).toContain('Set a password');
    const { status, text } = await set(invited.token);
    expect(status).toBe(409);
    expect(text).toContain('You already have an account');
    expect(await auditOf(service, taken)).toEqual([]);
    expect(await canLogIn(taken, taken.password)).toBe(true);
    expect((await new Visitor(service).get(confirmPath(invited.token))).status).toBe(200);
  });
});

describe('POST /account/password', () => {
  const change = (visitor: Visitor, current: string, next: string) =>
    visitor.fill('/account/password', { current_password: current, new_password: next });

  it('requires the current password, ends the other sessions and notifies the user', async () => {
    const user = await addUser(service);
    const [here, there] = [new Visitor(service), new Visitor(service)];
    for (const visitor of [here, there]) await visitor.logIn(user.email, user.password);
    const token = await linkFor(user.email);

    expect((await change(here, 'wrong password', NEW_PASSWORD)).status).toBe(403);
    expect((await change(here, '', NEW_PASSWORD)).status).toBe(403);
    expect((await change(here, user.password, 'short')).status).toBe(400);
    expect((await there.get('/account')).status).toBe(200);

    expect((await change(here, user.password, NEW_PASSWORD)).location).toBe('/account/password/changed');
    expect((await here.get('/account/password/changed')).status).toBe(200);
    expect((await there.get('/account')).status).toBe(303);
    // A link that someone else requested stops working too.
    expect((await set(token)).status).toBe(400);
    await mailTo(service, user.email, CHANGED);
    expect(await canLogIn(user, user.password)).toBe(false);
    expect(await canLogIn(user, NEW_PASSWORD)).toBe(true);
    expect((await auditOf(service, user)).filter((entry) => entry.startsWith('auth.password'))).toEqual([
      'auth.password_change failure',
      'auth.password_change failure',
      'auth.password_change success',
    ]);
  });
});

describe('A request of a session that a new password ends meanwhile', () => {
  const FACTOR = '/account/second-factor';
  /** A user with a second factor and a passkey, and a thief who knows the password and has a session. */
  async function robbed(): Promise<{ user: TestUser; thief: Visitor; passkeyId: string }> {
    const user = await addUser(service);
    const thief = new Visitor(service);
    await thief.logIn(user.email, user.password);
    const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
    const sealed = service.app.get(Sealer).seal(secret, ['dashboard_user', user.id, 'totp_secret']);
    await service.database.query('UPDATE dashboard_user SET totp_secret_sealed = $2 WHERE id = $1', [
      user.id,
      sealed,
    ]);
    const [passkey] = await service.database.query<{ id: string }>(
      `INSERT INTO passkey (id, user_id, credential_id, public_key, counter, name, created_at)
       VALUES (gen_random_uuid(), $1, gen_random_uuid()::text::bytea, '', 0, 'Phone', now()) RETURNING id`,
      [user.id],
    );
    await thief.get('/account');
    return { user, thief, passkeyId: passkey?.id ?? '' };
  }
  const rowOf = async ({ id }: TestUser): Promise<unknown> => {
    const [row] = await service.database.query(
      `SELECT password_hash, totp_enabled_at, (SELECT count(*) FROM passkey WHERE user_id = $1) AS passkeys,
              (SELECT count(*) FROM recovery_code WHERE user_id = $1) AS codes
         FROM dashboard_user WHERE id = $1`,
      [id],
    );
    return row;
  };
  const ENABLE = 'UPDATE dashboard_user SET totp_enabled_at = now() WHERE id = $1';

  it.each<{
    what: string;
    isEnabled?: boolean;
    request: (robbed: { user: TestUser; thief: Visitor; passkeyId: string }) => Promise<PageResponse>;
  }>([
    {
      what: 'sets no password',
      request: ({ user: { password: current_password }, thief }) =>
        thief.submit('/account/password', { current_password, new_password: 'the password of the thief' }),
    },
    {
      what: 'does not turn off the second factor',
      isEnabled: true,
      request: ({ user, thief }) =>
        thief.submit(`${FACTOR}/disable`, { password_to_turn_off: user.password }),
    },
    {
      what: 'creates no recovery codes',
      isEnabled: true,
      request: ({ user: { password }, thief }) => thief.submit(`${FACTOR}/recovery-codes`, { password }),
    },
    {
      what: 'turns on no second factor',
      request: ({ thief }) =>
        thief.submit(`${FACTOR}/enable`, { code: totpCode('JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP', Date.now()) }),
    },
    {
      what: 'removes no passkey',
      request: ({ thief, passkeyId }) => thief.submit(`/account/passkeys/${passkeyId}/remove`),
    },
  ])('$what', async ({ isEnabled = false, request }) => {
    const setUp = await robbed();
    const { user, thief } = setUp;
    if (isEnabled) await service.database.query(ENABLE, [user.id]);
    const token = await linkFor(user.email);
    let after: unknown;
    const reset = async (): Promise<PageResponse> => {
      const response = await set(token);
      expect(response.location).toContain('/password-reset/');
      after = await rowOf(user);
      return response;
    };
    const late = await changeInTurn(service, user, [reset, () => request(setUp)]);
    expect(late).toMatchObject({ status: 303, location: expect.stringContaining('/login') as unknown });
    expect(await rowOf(user)).toEqual(after);
    expect((await thief.get('/account')).status).toBe(303);
    expect(await canLogIn(user, NEW_PASSWORD)).toBe(true);
  });

  it('sets no password if another request of the same session has set one', async () => {
    const { user, thief: owner } = await robbed();
    const change = (new_password: string) => () =>
      owner.submit('/account/password', { current_password: user.password, new_password });
    const late = await changeInTurn(service, user, [change(NEW_PASSWORD), change('another new password')]);
    expect(late?.status).toBe(403);
    expect(await canLogIn(user, NEW_PASSWORD)).toBe(true);
  });
});

describe('An email', () => {
  let smtp: SmtpServer;
  let app: TestApp;
  let admin: Visitor;

  beforeAll(async () => {
    smtp = await SmtpServer.start();
    app = await startTestApp({
      ...BEHIND_PROXY,
      SMTP_URL: smtp.url,
      DASHBOARD_URL: 'https://dashboard.example.com',
    });
    const inviter = await addUser(app);
    admin = new Visitor(app);
    await admin.logIn(inviter.email, inviter.password);
    await sendEmails(app);
  });
  beforeEach(() => {
    smtp.onRecipient = () => '250 OK';
    smtp.onMessage = () => '250 Accepted';
    smtp.accepted.length = 0;
  });
  afterAll(async () => {
    await app.close();
    smtp.close();
  });

  async function invite(email = someAddress()): Promise<{ email: string; page: string }> {
    const { location } = await admin.fill('/dashboard/users/invitations/new', {
      email,
      name: 'Ada',
      role: 'member',
    });
    return { email, page: location?.replace(/\?.*/, '') ?? '' };
  }
  const arrived = (email: string) => smtp.accepted.filter(({ to }) => to === email);
  const emailsOf = (email: string) =>
    app.database.query(
      `SELECT kind, outcome, attempts, reply, content_sealed IS NULL AS is_empty FROM outgoing_email
         JOIN dashboard_user ON dashboard_user.id = user_id WHERE email = $1`,
      [email],
    );

  it('is sent over kept connections, as an automatic message of the dashboard', async () => {
    const before = smtp.connections;
    const sent = [await invite(), await invite()];
    for (const _each of sent) await sendEmails(app);
    expect(smtp.connections - before).toBeLessThan(2);
    expect(new Set(smtp.names)).toEqual(new Set(['dashboard.example.com']));
    for (const { email } of sent) {
      expect(arrived(email)).toHaveLength(1);
      expect(arrived(email)[0]?.content).toMatch(/^Auto-Submitted: auto-generated$/m);
      // Exchange answers other messages with notices of absence.
      expect(arrived(email)[0]?.content).toMatch(/^X-Auto-Response-Suppress: OOF, AutoReply$/m);
      expect(arrived(email)[0]?.content).toMatch(/^Message-ID: <[\w-]{36}@dashboard\.example\.com>$/m);
      expect(await emailsOf(email)).toMatchObject([{ outcome: 'sent', attempts: 1, is_empty: true }]);
    }
  });

  it.each([
    '530 5.7.0 Authentication required',
    '535 5.7.8 Credentials invalid',
    '553 5.1.8 Sender address rejected: domain not found',
    '550 5.7.26 Unauthenticated email from example.com is not accepted',
    // Postfix, Exim, Exchange, its cloud, Gmail, and Amazon SES in its sandbox.
    '554 5.7.1 <relay@example.com>: Relay access denied',
    '550 relay not permitted',
    '550 5.7.54 SMTP; Unable to relay recipient in non-accepted domain',
    '550 5.7.60 SMTP; Client does not have permissions to send as this sender',
    '554 5.2.252 SendAsDenied; noreply@example.com not allowed to send as other@example.com',
    '550 5.7.708 Service unavailable. Access denied, traffic not accepted from this IP',
    '550 5.4.5 Daily user sending limit exceeded',
    '554 5.7.1 Service unavailable; Client host [203.0.113.7] blocked using zen.example.org',
    '554 Message rejected: Email address is not verified. The following identities failed the check',
    // Exim with cPanel, Postfix with restrictions, Mimecast, Proofpoint, and IONOS.
    '550 SPF: 203.0.113.7 is not allowed to send mail from example.com',
    '554 5.7.1 <noreply@example.com>: Sender address rejected: Access denied',
    '550 Envelope blocked - sender verify failed',
    '550 5.7.1 Email rejected per DMARC policy for example.com',
    '550 DKIM Sender Invalid - envelope rejected',
    '550 Rejected because 203.0.113.7 is in a black list at zen.example.org',
    '554 5.7.0 Blocked - see https://ipcheck.example.com/?ip=203.0.113.7 (RBL)',
  ])('is repeated if the server names a problem of the sender: %s', async (reply) => {
    for (const [toRecipient, toMessage] of [
      [reply, '250 Accepted'],
      ['250 OK', reply],
    ] as const) {
      Object.assign(smtp, { onRecipient: () => toRecipient, onMessage: () => toMessage });
      const { email } = await invite();
      await sendEmails(app);
      expect(await emailsOf(email)).toMatchObject([{ outcome: null, attempts: 1, is_empty: false }]);
    }
    Object.assign(smtp, { onRecipient: () => '250 OK', onMessage: () => '250 Accepted' });
  });

  it('is stored without its content in clear, and repeated after growing pauses while the mail server defers it', async () => {
    smtp.onRecipient = () => '451 4.7.1 Greylisted';
    const { email, page } = await invite();
    const [{ content_sealed: sealed } = {}] = await app.database.query<{ content_sealed?: Buffer }>(
      `SELECT content_sealed FROM outgoing_email JOIN dashboard_user ON dashboard_user.id = user_id WHERE email = $1`,
      [email],
    );
    expect(sealed?.toString()).not.toContain('token=');
    await sendEmails(app);
    await sendEmails(app);
    expect(await emailsOf(email)).toMatchObject([{ outcome: null, attempts: 1, reply: '451 4.7.1' }]);
    expect((await admin.get(page)).text).toContain(
      'the mail server replied 451 4.7.1. The next attempt is at',
    );
    for (const [seconds, attempts] of [
      [13, 2],
      [28, 2],
      [40, 3],
    ] as const) {
      using _clock = moveClock(app, seconds * 1_000);
      await sendEmails(app);
      expect([seconds, ...(await emailsOf(email))]).toMatchObject([seconds, { attempts }]);
    }
    smtp.onRecipient = () => '250 OK';
    using _clock = moveClock(app, 10 * MINUTE);
    await sendEmails(app);
    expect(arrived(email)).toHaveLength(1);
    expect((await admin.get(page)).text).not.toContain('451 4.7.1');
  });

  it.each([
    ['is reset', 'reset', 1],
    ['is reset after the message was accepted', 'accept, reset', 2],
    ['ends with 454', '454 4.7.0 Throttling', 1],
  ])('arrives if the first connection %s', async (_what, reply, times) => {
    smtp.onMessage = () => reply;
    const { email } = await invite();
    await sendEmails(app);
    smtp.onMessage = () => '250 Accepted';
    using _clock = moveClock(app, MINUTE);
    await sendEmails(app);
    const mails = arrived(email);
    expect(mails).toHaveLength(times);
    // Mail programs recognize the second one.
    expect(new Set(mails.map(({ content }) => /^Message-ID: .+$/m.exec(content)?.[0])).size).toBe(1);
  });

  it('arrives although the process that was sending it was killed', async () => {
    const { email } = await invite();
    // This is the state that a killed process leaves behind.
    const now = new Date();
    const times = { now, dueAt: now, until: new Date(Date.now() + 90_000) };
    const claimed = await app.app.get(EmailsRepository).claim(times, 5, HOUR, []);
    expect(claimed.map(({ to }) => to)).toContain(email);
    await sendEmails(app);
    expect(arrived(email)).toEqual([]);
    using _clock = moveClock(app, 2 * MINUTE);
    await sendEmails(app);
    expect(arrived(email)).toHaveLength(1);
  });

  it('waits for one email of each organization at a time, not for all of one', async () => {
    const [of, other] = [await addUser(app), await addUser(app, (await app.anotherOrganization()).id)];
    const add = (user: TestUser, count: number) =>
      app.app
        .get(EmailsRepository)
        .addNotice(Array<string>(count).fill(user.id), { subject: 'Hello', body: [] });
    await add(of, 40);
    await add(other, 3);
    await app.database.query(
      "UPDATE outgoing_email SET due_at = due_at - interval '1 minute' WHERE user_id = $1 AND outcome IS NULL",
      [of.id],
    );
    const now = new Date();
    const next = async (sending: readonly string[]) =>
      (await app.app.get(EmailsRepository).claim({ now, dueAt: now, until: now }, 1, MINUTE, sending))[0]?.to;
    expect(await next([])).toBe(of.email);
    expect(await next([app.organizationId])).toBe(other.email);
    await sendEmails(app);
    const order = smtp.accepted.map(({ to }) => to);
    expect(order).toHaveLength(43);
    expect(order.lastIndexOf(other.email)).toBeLessThan(12);
  });

  describe('that waits with others', () => {
    const settings = { limit: 5, longestPause: HOUR };
    const claim = (now = new Date()) =>
      app.app
        .get(EmailsRepository)
        .claim({ now, dueAt: now, until: now }, settings.limit, settings.longestPause, []);
    const add = ({ id }: TestUser, kind: 'notice' | 'reset', count: number, age: string) =>
      app.database.query(
        `INSERT INTO outgoing_email (id, user_id, kind, content_sealed, created_at, due_at, expires_at)
         SELECT gen_random_uuid(), $1, $2, decode(repeat('ab', 500), 'hex'), created_at, created_at, now() + interval '1 day'
           FROM generate_series(1, $3::integer) number
          CROSS JOIN LATERAL (SELECT now() - $4::interval + number * interval '1 millisecond' AS created_at) created`,
        [id, kind, count, age],
      );
    const strangers = () =>
      Promise.all(
        Array.from({ length: 4 }, async () => addUser(app, (await app.anotherOrganization()).id)),
      ) as Promise<[TestUser, TestUser, TestUser, TestUser]>;
    const removeAll = () => app.database.query('DELETE FROM outgoing_email WHERE outcome IS NULL');
    beforeEach(removeAll);
    afterEach(removeAll);

    it('is not delayed by the notices of other organizations, however many they are', async () => {
      const [many, more, reset, notice] = await strangers();
      await add(many, 'notice', 5_001, '2 hours');
      await add(reset, 'reset', 1, '1 hour');
      await add(more, 'notice', 5_001, '1 minute');
      await add(notice, 'notice', 1, '1 second');
      const claimed = (await claim()).map(({ to }) => to);
      expect(claimed).toEqual(expect.arrayContaining([many, more, reset, notice].map(({ email }) => email)));
    });

    it('is sent before the notices of its organization if it has a link', async () => {
      const [user] = await strangers();
      await add(user, 'notice', 10, '1 hour');
      await add(user, 'reset', 1, '1 minute');
      expect((await claim()).map(({ kind }) => kind)).toEqual(
        expect.arrayContaining(['reset', ...Array<string>(4).fill('notice')]),
      );
    });

    it('is claimed although other processes are claiming dozens', async () => {
      const [user] = await strangers();
      await add(user, 'notice', 60, '1 hour');
      await app.app.get(DataSource).transaction(async (manager) => {
        await manager.query(
          'SELECT FROM outgoing_email WHERE outcome IS NULL ORDER BY due_at LIMIT 50 FOR UPDATE',
        );
        expect(await claim()).toHaveLength(settings.limit);
      });
    });

    it('is found by an index', async () => {
      const [many, , reset] = await strangers();
      await add(many, 'notice', 50_000, '2 hours');
      await app.database.query(`UPDATE outgoing_email SET outcome = 'sent', content_sealed = NULL`);
      await add(many, 'notice', 50_000, '1 hour');
      await add(reset, 'reset', 1, '30 minutes');
      await app.database.query('VACUUM (ANALYZE) outgoing_email');
      const statements = watchStatements(app);
      const now = new Date();
      expect((await claim(now)).map(({ to }) => to)).toContain(reset.email);
      const text = statements.find((each) => each.includes('UPDATE outgoing_email')) ?? '';
      const rows = await app.database.query<{ 'QUERY PLAN': string }>(`EXPLAIN (COSTS OFF) ${text}`, [
        now,
        now,
        settings.limit,
        now,
        [],
      ]);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).toContain('outgoing_email_due_at_index');
      expect(plan).not.toMatch(/Seq Scan on outgoing_email/);
    });
  });

  it('arrives although the clock was ahead when its next attempt was planned', async () => {
    const { email } = await invite();
    await app.database.query(
      `UPDATE outgoing_email SET due_at = now() + interval '2 days' WHERE outcome IS NULL`,
    );
    await sendEmails(app);
    expect(arrived(email)).toHaveLength(1);
  });

  it('with a link is sent although the process was killed after its response to the request', async () => {
    const user = await addUser(app);
    const resets = app.app.get(PasswordResetsService, { strict: false });
    await resets.request(user.email, { ip: '127.0.0.1', userAgent: 'test' });
    const [request] = await app.database.query<{ email_sealed: Buffer }>(
      'SELECT * FROM password_reset_request',
    );
    expect(request?.email_sealed.toString()).not.toContain(user.email);
    await app.app.get(PasswordResetsJob, { strict: false }).run();
    await sendEmails(app);
    expect(arrived(user.email)).toHaveLength(1);
    expect(await app.database.query('SELECT * FROM password_reset_request')).toEqual([]);
  });

  it('with a link is sent although an earlier request cannot be processed', async () => {
    const users = [await addUser(app), await addUser(app)] as const;
    const resets = app.app.get(PasswordResetsService, { strict: false });
    const origin = { ip: '127.0.0.1', userAgent: 'test' };
    await resets.request(users[0].email, origin);
    await app.database.query(`UPDATE password_reset_request SET email_sealed = '\\x00'`);
    await resets.request(users[1].email, origin);
    await app.app.get(PasswordResetsJob, { strict: false }).run();
    await sendEmails(app);
    expect([arrived(users[0].email), arrived(users[1].email)].map(({ length }) => length)).toEqual([0, 1]);
    await app.database.query('DELETE FROM password_reset_request');
  });

  it('is not sent when its link has expired, was replaced or was used', async () => {
    smtp.onRecipient = () => '451 4.7.1 Greylisted';
    const users = [await addUser(app), await addUser(app)] as const;
    for (const { email } of [...users, users[1]]) {
      await new Visitor(app).fill('/password-reset', { email });
      await sendEmails(app);
    }
    expect(await emailsOf(users[1].email)).toHaveLength(1);
    const { email, page } = await invite();
    await sendEmails(app);
    smtp.onRecipient = () => '250 OK';
    const visitor = new Visitor(app);
    await visitor.logIn(users[1].email, users[1].password);
    await visitor.fill('/account/password', {
      current_password: users[1].password,
      new_password: NEW_PASSWORD,
    });
    using _clock = moveClock(app, 30 * MINUTE);
    await sendEmails(app);
    expect(await emailsOf(users[0].email)).toMatchObject([
      { kind: 'reset', outcome: 'expired', is_empty: true },
    ]);
    const subjects = arrived(users[1].email).map(({ content }) => /^Subject: (.*)$/m.exec(content)?.[1]);
    expect(arrived(users[0].email)).toEqual([]);
    expect(subjects).not.toContain(RESET);
    expect(subjects).toContain(CHANGED);
    expect(arrived(email)).toHaveLength(1);
    expect((await admin.get(page)).text).not.toContain('Not delivered');
  });

  it('is due at once for other processes when a process stops before the mail server has responded', async () => {
    const { email } = await invite();
    const mailer = app.app.get(Mailer);
    const { deliver } = mailer;
    let respond: () => void = () => undefined;
    mailer.deliver = () => new Promise((resolve) => (respond = resolve));
    await app.app.get(EmailsJob).run();
    const due = () =>
      app.database.query('SELECT FROM outgoing_email WHERE outcome IS NULL AND due_at <= now()');
    expect(await due()).toEqual([]);
    await app.app.get(BackgroundTasks).end(0);
    expect(await due()).toHaveLength(1);
    respond();
    mailer.deliver = deliver;
    await app.app.get(BackgroundTasks).settled();
    expect(await emailsOf(email)).toMatchObject([{ outcome: 'sent' }]);
    // Emails that have their outcome are left alone.
    await app.app.get(BackgroundTasks).end(0);
    expect(await due()).toEqual([]);
  });

  it('is left to processes that have a mail server', async () => {
    const { email } = await invite();
    const job = app.app.get(EmailsJob);
    const [settings, service] = ['settings', 'service'].map((name) => Reflect.get(job, name) as object);
    Object.assign(job, {
      settings: { ...settings, smtpUrl: undefined },
      service: { isProduction: true },
    });
    await sendEmails(app);
    expect(await emailsOf(email)).toMatchObject([{ outcome: null }]);
    Object.assign(job, { settings, service });
    await sendEmails(app);
    expect(smtp.accepted.map(({ to }) => to)).toEqual([email]);
  });

  it('is not sent to a user who was disabled or removed', async () => {
    const [disabled, removed] = [await invite(), await invite()];
    await admin.fill(`${disabled.page}/disable`, {});
    await admin.fill(`${removed.page}/remove`, {});
    await sendEmails(app);
    expect(smtp.accepted.map(({ to }) => to)).toEqual([]);
    expect(await emailsOf(disabled.email)).toMatchObject([{ outcome: 'cancelled', is_empty: true }]);
    expect(await emailsOf(removed.email)).toEqual([]);
  });

  it.each([
    ['550 5.1.1 <ADDRESS>: user unknown', '550 5.1.1', 'the address does not exist'],
    ['550 ADDRESS no', '550', 'the address may be misspelled'],
    ['552 5.2.2 ADDRESS: over quota', '552 5.2.2', 'the mailbox is full'],
    ['552 ADDRESS: over quota', '552', 'the mailbox is full'],
    ['554 5.7.1 ADDRESS: not welcome', '554 5.7.1', 'it does not accept emails from this service'],
    ['554 no', '554', 'it gave no reason'],
    ['550 5.1.1 <relay@example.com>: unknown', '550 5.1.1', 'the address does not exist'],
  ])(
    'that is refused with %s is shown to the inviter, who can send it again',
    async (text, reply, reason) => {
      const before = logLines().length;
      const refused = someAddress();
      rememberSecret(refused);
      smtp.onRecipient = (to) => text.replace('ADDRESS', to);
      const { email, page } = await invite(refused);
      await sendEmails(app);
      const sentence = `The mail server refused the invitation: ${reason} (${reply}).`;
      const list = await admin.get(`/dashboard/users?search=${email}`);
      expect(list.text).toContain(sentence);
      expect(list.text).toContain('Not delivered');
      expect(list.text).toContain(`formaction="${page}/invitation"`);
      const shown = await admin.get(page);
      expect(shown.text).toContain(sentence);
      expect(shown.text).toContain('Resend invitation');
      const logged = logLines().slice(before);
      expect(logged).toContainEqual(
        expect.objectContaining({ message: `An email could not be sent (${reply})`, kind: 'invitation' }),
      );
      expect(JSON.stringify(logged)).not.toContain(email);

      smtp.onRecipient = () => '250 OK';
      const entries = await auditedBy(app, async () => {
        expect((await admin.submit(`${page}/invitation`)).location).toBe(`${page}?done=invited-again`);
      });
      expect(entries).toEqual([`user.invite success ${email}`]);
      await sendEmails(app);
      expect(arrived(email)).toHaveLength(1);
      expect((await admin.get(page)).text).not.toContain(sentence);
    },
  );

  it('with an invitation is sent again within the limits of invitations, until the invitation is accepted', async () => {
    const { page } = await invite();
    await admin.get(page);
    const statuses: number[] = [];
    for (let time = 1; time <= 10; time += 1)
      statuses.push((await admin.submit(`${page}/invitation`)).status);
    expect(statuses).toEqual([...Array(9).fill(303), 429]);
    const member = await addUser(app);
    const { status, text } = await admin.submit(`/dashboard/users/${member.id}/invitation`);
    expect([status, text]).toEqual([400, expect.stringContaining('has accepted the invitation already')]);
  });

  it('that cannot be sent is not reported to the client', async () => {
    const broken = await startTestApp({ SMTP_URL: 'smtp://127.0.0.1:1' });
    const user = await addUser(broken);
    rememberSecret(user.email);
    const before = logLines().length;
    expect((await new Visitor(broken).fill('/password-reset', { email: user.email })).status).toBe(200);
    await sendEmails(broken);
    await broken.close();
    expect(logLines().slice(before)).toContainEqual(
      expect.objectContaining({
        message: 'An email could not be sent (ESOCKET)',
        context: 'Mail',
        attempts: 1,
      }),
    );
  });
});
