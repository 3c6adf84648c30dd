import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { generateSecret, SecretDigest, sha256 } from '../../../src/infrastructure/crypto/index.js';
import { advisoryLockKey } from '../../../src/infrastructure/database/index.js';
import { EndedLinksJob } from '../../../src/modules/sign-in-links/ended-links.job.js';
import { OpenedLinksService } from '../../../src/modules/sign-in-links/opened-links.service.js';
import { HOUR, MINUTE } from '../../../src/infrastructure/time/index.js';
import { auditEntries } from '../../support/logs/audited.js';
import { LoginAgent } from '../../support/agents/agent-logins.js';
import { moveClock } from '../../support/clock.js';
import { loggedIn, saveAgentSettings, submitForm } from '../../support/pages/dashboard-forms.js';
import { finishErasures } from '../../support/merchants/erasures.js';
import { GOOD, NETFLIX, newLink, textMessagesTo } from '../../support/merchants/sign-in-links.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { useTestApp, type Login } from '../../support/test-app.js';
import {
  complete,
  createLink,
  follow,
  goToLogin,
  logInFor,
  LOGIN_PAGE,
  newUser,
  pathOf,
  type BackendLink,
} from '../../support/agents/user-links.js';
import { expectUsualErrors } from '../../support/http/usual-errors.js';
import { BEHIND_PROXY, textOf, Visitor, type PageResponse } from '../../support/pages/visitor.js';

const service = useTestApp(BEHIND_PROXY);
const LOCKED = { action: 'sign_in', user_name: 'user_locked', password: 'pass_good' };
let owner: Login;

beforeAll(async () => {
  owner = await service.login('owner');
  await save({ login_url: LOGIN_PAGE, return_hosts: 'shop.example.com' });
});

async function save(fields: Record<string, string>): Promise<void> {
  const { status, problem } = await saveAgentSettings(service, owner, { allowed_agents: 'any', ...fields });
  expect({ status, problem }).toMatchObject({ status: 303 });
}

async function newBackendLink(body: object = {}): Promise<BackendLink & { readonly user: string }> {
  const user = newUser();
  const { status, body: link } = await createLink(service, { external_user_id: user, ...body });
  expect({ status, link }).toMatchObject({ status: 200 });
  return { ...link, user };
}

const metadataOf = (size: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: size }, (_, index) => [`key${index}`, `value ${index}`]));

const statusOf = async ({ id }: { readonly id: string }): Promise<unknown> =>
  (await service.request(`/sign-in-links/${id}`, { as: service.development })).body['status'];

const eventsOf = async (user: string): Promise<Record<string, unknown>[]> =>
  (
    await service.database.query<{ body: Buffer }>(
      'SELECT body FROM webhook_event WHERE external_user_id = $1 ORDER BY created_at, id',
      [user],
    )
  ).map(({ body }) => JSON.parse(body.toString()) as Record<string, unknown>);

describe('A sign-in link of a backend', () => {
  it('connects the account of the user who logs in, with the metadata in the webhook', async () => {
    const link = await newBackendLink({ metadata: { order: '4711' } });
    expect(link).toMatchObject({ status: 'pending', source: 'backend', proof: 'partner_login' });
    const visitor = new Visitor(service);
    const { page, path } = await logInFor(service, visitor, pathOf(link), link.user);
    expect(page.status).toBe(200);
    expect(textOf(page)).toContain('Your Netflix password');
    // With `new-password`, iPhones and Safari fill in a password that they make up.
    const [, password = ''] = /<input ([^>]*type="password"[^>]*)>/.exec(page.text) ?? [];
    expect(password).toContain('autocomplete="current-password"');
    const done = await visitor.submit(path, GOOD);
    expect(done).toMatchObject({ status: 303, location: `${path}?done=completed` });
    expect(textOf(await visitor.get(done.location ?? ''))).toContain('is connected to your Netflix account');
    const { body } = await service.request(`/sign-in-links/${link.id}`, { as: service.development });
    expect(body).toMatchObject({ id: link.id, status: 'completed', session_id: expect.any(String) });
    expect(await eventsOf(link.user)).toMatchObject([
      { event: 'AUTHENTICATED', session_id: body['session_id'], data: { metadata: { order: '4711' } } },
    ]);
  });

  it('is created once with an idempotency key, which costs neither an attempt nor a connection while others are counted', async () => {
    const users = Array.from({ length: 30 }, newUser);
    const create = (user: string) =>
      createLink(service, { external_user_id: user }, service.development, {
        'Idempotency-Key': `key-${user}`,
      });
    const responses = await Promise.all(users.map(create));
    expect(responses.map(({ status }) => status)).toEqual(users.map(() => 200));
    for (let repeat = 0; repeat < 6; repeat += 1) {
      const { status, body, headers } = await create(users[0] as string);
      expect([status, body.id, headers.get('idempotency-replayed')]).toEqual([
        200,
        responses[0]?.body.id,
        'true',
      ]);
    }
    const { status, body } = await createLink(
      service,
      { external_user_id: users[0], merchant_id: 19 },
      service.development,
      { 'Idempotency-Key': `key-${users[0]}` },
    );
    expect([status, (body as unknown as Record<string, unknown>)['error_code']]).toEqual([
      409,
      'IDEMPOTENCY_KEY_REUSED',
    ]);
  });

  it('is created for a merchant that exists, and cancelled once with an idempotency key', async () => {
    const unknown = await createLink(service, { merchant_id: 999_999_999 });
    expect([unknown.status, unknown.body]).toMatchObject([404, { error_code: 'NOT_FOUND' }]);
    const { id } = await newBackendLink();
    const cancel = (body: object) =>
      service.request(`/sign-in-links/${id}/cancel`, {
        body,
        as: service.development,
        headers: { 'Idempotency-Key': `cancel-${id}` },
      });
    for (let repeat = 0; repeat < 2; repeat += 1)
      expect((await cancel({})).body).toMatchObject({ id, status: 'cancelled' });
    // As a request with the key that another process is working on.
    const path = `/sign-in-links/${id}/cancel`;
    const request = ['idempotency key', 'POST', path, service.development.clientId, `cancel-${id}`];
    const name = service.app.get(SecretDigest).of(JSON.stringify(request)).toString('hex');
    const other = new pg.Client({ connectionString: service.database.url });
    await other.connect();
    await other.query(`SELECT pg_advisory_lock(${advisoryLockKey(`idempotency key ${name}`)})`);
    const { status, body } = await cancel({});
    await other.end();
    expect([status, body['error_code']]).toEqual([409, 'ONGOING_OPERATION']);
  });

  it('tells the login page its purpose', async () => {
    const link = await newBackendLink();
    expect(await goToLogin(new Visitor(service), pathOf(link))).toMatchObject({ purpose: 'sign_in_link' });
  });

  it('does not change when a scanner opens it, and begins no login', async () => {
    const link = await newBackendLink();
    const count = async () =>
      (await service.database.query("SELECT FROM agent_authorization WHERE purpose = 'sign_in_link'")).length;
    const before = await count();
    for (let opened = 0; opened < 3; opened += 1) {
      const page = await new Visitor(service).get(pathOf(link));
      expect(page.status).toBe(200);
      expect(textOf(page)).toContain('log in to Test organization');
      expect(page.text).not.toContain('type="password"');
    }
    expect(await count()).toBe(before);
    expect(await statusOf(link)).toBe('pending');
  });

  it('is refused to another user of the partner, and stays', async () => {
    const link = await newBackendLink();
    const visitor = new Visitor(service);
    const { page, path } = await logInFor(service, visitor, pathOf(link), newUser());
    expect(page.status).toBe(403);
    expect(textOf(page)).toContain('This link is for somebody else');
    expect((await auditEntries(service))[0]).toMatchObject({
      event: { action: 'sign_in_link.refuse' },
      actor: { name: 'system' },
      context: { ip: visitor.ip },
      target: { type: 'sign_in_link', name: NETFLIX.name, environment: 'development' },
    });
    const count = (await auditEntries(service)).length;
    // Neither the form nor a reload lets them in, and neither is recorded again.
    const sent = await visitor.submit(path, GOOD);
    expect(sent.text).not.toContain('type="password"');
    expect((await visitor.get(path)).text).not.toContain('type="password"');
    expect((await auditEntries(service)).length).toBe(count);
    expect(await statusOf(link)).toBe('pending');
    const own = await logInFor(service, new Visitor(service), pathOf(link), link.user);
    expect(textOf(own.page)).toContain('Your Netflix password');
  });

  it('asks the login page who logs in if another user of the partner did, who would otherwise return', async () => {
    const link = await newBackendLink();
    const visitor = new Visitor(service);
    const begun = await visitor.fill(pathOf(link), { action: 'log_in' });
    expect(new URL(begun.location ?? '').searchParams.has('prompt')).toBe(false);
    const { page } = await logInFor(service, visitor, pathOf(link), newUser());
    const [, action = ''] = /name="action" value="([^"]+)"/.exec(page.text) ?? [];
    const again = await visitor.submit(pathOf(link), { action });
    expect(new URL(again.location ?? '').searchParams.get('prompt')).toBe('login');
  });

  it('is refused in another browser than the one that logged in', async () => {
    const link = await newBackendLink();
    const visitor = new Visitor(service);
    const { path } = await logInFor(service, visitor, pathOf(link), link.user);
    const thief = new Visitor(service);
    expect((await thief.get(path)).text).not.toContain('type="password"');
    expect((await thief.submit(path, GOOD)).text).not.toContain('type="password"');
    expect(await statusOf(link)).toBe('pending');
    // An attacker who begins and has the victim log in gets nothing, either.
    const attacker = new Visitor(service);
    const { id } = await goToLogin(attacker, pathOf(link));
    const returned = await new Visitor(service).get((await complete(service, id, link.user)).path);
    expect(returned.status).toBe(403);
    expect(textOf(returned)).toContain('started in another browser');
    expect((await auditEntries(service))[0]).toMatchObject({
      event: { action: 'user_login.refuse' },
      actor: { name: 'system' },
      target: { name: 'a sign-in link' },
    });
    expect((await attacker.get(`${pathOf(link)}/${id}`)).text).not.toContain('type="password"');
  });

  it('says over http, where the browser keeps no cookies, nothing about agents', async () => {
    const link = await newBackendLink();
    const { id } = await goToLogin(new Visitor(service), pathOf(link));
    const { path } = await complete(service, id, link.user);
    const page = await new Visitor(service).get(path, { host: 'connector.example.com:3000' });
    expect([page.status, textOf(page)]).toEqual([403, expect.stringContaining('with an http address')]);
    expect(textOf(page)).not.toMatch(/agent/);
  });

  it('works once, in two tabs and after double clicks', async () => {
    const link = await newBackendLink();
    const visitor = new Visitor(service);
    const first = await logInFor(service, visitor, pathOf(link), link.user);
    const second = await logInFor(service, visitor, pathOf(link), link.user);
    expect(first.path).not.toBe(second.path);
    const forms = [visitor.submit(first.path, GOOD), visitor.submit(second.path, GOOD)];
    expect((await Promise.all(forms)).map(({ status }) => status)).toEqual([303, 303]);
    expect((await eventsOf(link.user)).filter(({ event }) => event === 'AUTHENTICATED')).toHaveLength(1);
    expect((await visitor.get(first.path)).status).toBe(410);
    expect((await new Visitor(service).get(pathOf(link))).status).toBe(410);
  });

  it('cannot be used after it was cancelled, has expired, or its user was erased', async () => {
    const cancelled = await newBackendLink();
    const visitor = new Visitor(service);
    const { path } = await logInFor(service, visitor, pathOf(cancelled), cancelled.user);
    const options = { method: 'POST', as: service.development };
    const { body } = await service.request(`/sign-in-links/${cancelled.id}/cancel`, options);
    expect(body).toMatchObject({ status: 'cancelled', cancelled_by: 'backend' });
    expect(await visitor.submit(path, GOOD)).toMatchObject({ status: 303, location: path });
    expect((await visitor.get(path)).status).toBe(410);
    expect((await visitor.submit(pathOf(cancelled), { action: 'log_in' })).status).toBe(410);

    const expired = await newBackendLink({ expires_in: 300 });
    const other = new Visitor(service);
    const late = await logInFor(service, other, pathOf(expired), expired.user);
    {
      using _clock = moveClock(service, 5 * MINUTE);
      expect((await other.submit(late.path, GOOD)).status).toBe(303);
      expect((await other.get(late.path)).status).toBe(410);
      expect(await statusOf(expired)).toBe('expired');
    }

    const erased = await newBackendLink({ metadata: { secret: 'erased-value' } });
    const third = new Visitor(service);
    const gone = await logInFor(service, third, pathOf(erased), erased.user);
    const body2 = { external_user_id: erased.user };
    await service.request('/external-users/erase', { body: body2, as: service.development });
    await finishErasures(service);
    expect((await third.submit(gone.path, GOOD)).status).toBe(404);
    expect((await third.get(gone.path)).status).toBe(404);
  });

  it('cannot be blocked by strangers who know its ID, also from ten addresses', async () => {
    const link = await newBackendLink();
    const stranger = new Visitor(service);
    await stranger.get(pathOf(link));
    const logIn = (): Promise<PageResponse> => stranger.submit(pathOf(link), { action: 'log_in' });
    const responses = await Promise.all(Array.from({ length: 62 }, logIn));
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(2);
    // As many from each of twenty addresses, within a moment.
    const links = service.app.get(OpenedLinksService);
    const found = await links.find(link.id);
    for (let index = 1; index <= 20 * 60; index += 1) {
      await links.countForm(found, `192.0.2.${index % 20}`);
      await links.countLogin(`192.0.2.${index % 20}`);
    }
    const { page } = await logInFor(service, new Visitor(service), pathOf(link), link.user);
    expect(textOf(page)).toContain('Your Netflix password');
  });

  it('begins at most 300 logins a minute from an address, with all links together', async () => {
    const links = service.app.get(OpenedLinksService);
    const begun = Array.from({ length: 302 }, async () => links.countLogin('2001:db8::1'));
    const results = await Promise.allSettled(begun);
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(2);
    const link = await newBackendLink();
    const neighbor = new Visitor(service, '2001:db8::2');
    expect((await neighbor.fill(pathOf(link), { action: 'log_in' })).status).toBe(429);
    const { status } = await new Visitor(service, '2001:db8:1::1').fill(pathOf(link), { action: 'log_in' });
    expect(status).toBe(303);
  });

  it('needs another login when that has expired, and says so', async () => {
    const link = await newBackendLink();
    const visitor = new Visitor(service);
    const { page: form, path } = await logInFor(service, visitor, pathOf(link), link.user);
    expect(textOf(form)).toContain('Then you have to log in to Test organization again.');
    expect(textOf(await visitor.get(pathOf(link)))).not.toContain('has ended');
    using _clock = moveClock(service, 10 * MINUTE);
    for (const page of [
      await visitor.submit(path, GOOD),
      await visitor.submit(path, { action: 'code', code: '123456' }),
      await visitor.submit(path, { action: 'decline' }),
      await visitor.get(path),
    ]) {
      expect(page.status).toBe(410);
      expect(page.text).not.toContain('type="password"');
      expect(textOf(page)).toContain('Your login has ended, and nothing was connected. Log in again.');
      expect(textOf(page)).toContain('First, log in to');
    }
    expect(await statusOf(link)).toBe('pending');
  });

  it('says that a code belongs to a sign-in that has ended', async () => {
    const link = await newBackendLink();
    const visitor = new Visitor(service);
    const { path } = await logInFor(service, visitor, pathOf(link), link.user);
    await visitor.submit(path, { ...GOOD, user_name: 'user_otp' });
    expect(textOf(await visitor.get(path))).toContain('Enter the code from Netflix');
    // In another tab, the user goes back to the password, and mistypes it.
    await visitor.submit(path, { ...GOOD, password: 'wrong' });
    const page = await visitor.submit(path, { action: 'code', code: '123456' });
    expect(page.status).toBe(409);
    expect(textOf(page)).toContain('The sign-in that the code belongs to has ended. Sign in again.');
    expect(page.text).toContain('type="password"');
  });

  it('publishes its expiry and its failure with the metadata', async () => {
    const expired = await newBackendLink({ expires_in: 300, metadata: { order: '1' } });
    {
      using _clock = moveClock(service, 6 * MINUTE);
      await service.app.get(EndedLinksJob).run();
    }
    expect(await eventsOf(expired.user)).toMatchObject([
      {
        event: 'SIGN_IN_LINK_EXPIRED',
        data: { sign_in_link_id: expired.id, metadata: { order: '1' } },
      },
    ]);
    const failed = await newBackendLink({ metadata: { order: '2' } });
    const visitor = new Visitor(service);
    const { path } = await logInFor(service, visitor, pathOf(failed), failed.user);
    await visitor.submit(path, LOCKED);
    expect(await eventsOf(failed.user)).toMatchObject([
      {
        event: 'SIGN_IN_LINK_FAILED',
        data: { sign_in_link_id: failed.id, reason: 'denied', metadata: { order: '2' } },
      },
    ]);
  });
});

describe('Beside version 0.3.0', () => {
  it('a link that it created is completed, and one that requires a login is not found there', async () => {
    const token = generateSecret('');
    rememberSecret(token);
    const user = newUser();
    await service.database.query(
      `INSERT INTO sign_in_link (id, token_hash, client_id, environment, external_user_id, merchant_id, status, created_at, expires_at)
       VALUES (gen_random_uuid(), $1, $2, 'development', $3, $4, 'pending', now(), now() + interval '15 minutes')`,
      [sha256(token), service.development.clientId, user, NETFLIX.id],
    );
    const visitor = new Visitor(service);
    const done = await visitor.fill(`/sign-in/${token}`, GOOD);
    expect(done.location).toBe(`/sign-in/${token}?done=completed`);
    // It finds links by the hash of the text in their path.
    const link = await newBackendLink();
    const hash = sha256(pathOf(link).slice('/sign-in/'.length));
    const found = await service.database.query('SELECT FROM sign_in_link WHERE token_hash = $1', [hash]);
    expect(found).toEqual([]);
  });

  it('a link that it cancelled has nobody who cancelled it', async () => {
    const link = await newBackendLink();
    await service.database.query(
      "UPDATE sign_in_link SET status = 'cancelled', finished_at = now() WHERE id = $1",
      [link.id],
    );
    const { body } = await service.request(`/sign-in-links/${link.id}`, { as: service.development });
    expect(body).toMatchObject({ status: 'cancelled', cancelled_by: null });
  });
});

describe('The login page', () => {
  it('keeps the rest of its query as it is, because it may be signed', async () => {
    const login = 'https://shop.example.com/connect';
    await save({ login_url: `${login}?purpose=x&name=a%20b&sum=%2B+&environment=staging` });
    const link = await newBackendLink();
    const { location } = await new Visitor(service).fill(pathOf(link), { action: 'log_in' });
    await save({ login_url: LOGIN_PAGE, return_hosts: 'shop.example.com' });
    expect(location).toMatch(
      /^https:\/\/shop\.example\.com\/connect\?name=a%20b&sum=%2B\+&authorization_id=[\da-f-]{36}&environment=development&purpose=sign_in_link$/,
    );
  });
});

describe('A login for one purpose', () => {
  it('opens no other link, and no agent', async () => {
    const user = newUser();
    const first = await newBackendLink({ external_user_id: user });
    const second = await newBackendLink({ external_user_id: user });
    const visitor = new Visitor(service);
    const { path } = await logInFor(service, visitor, pathOf(first), user);
    const login = path.split('/').at(-1) ?? '';
    expect((await visitor.get(`${pathOf(second)}/${login}`)).text).not.toContain('type="password"');
    const page = `/connections/${service.development.clientId}/authorizations/${login}`;
    for (const action of ['approve', 'decline', 'enter_code', 'log_in'])
      expect(await visitor.submit(page, { action, external_user_id: 'x' })).toMatchObject({
        status: 303,
        location: page,
      });
    expect(await visitor.get(page)).toMatchObject({ status: 303, location: path });
    const [row] = await service.database.query('SELECT status FROM agent_authorization WHERE id = $1', [
      login,
    ]);
    expect(row).toEqual({ status: 'confirmed' });
    // The other way around: a login that connects an agent.
    const agent = await LoginAgent.register(service);
    const begun = await visitor.get(agent.authorizePath());
    const id = new URL(begun.location ?? '').searchParams.get('authorization_id') ?? '';
    expect(new URL(begun.location ?? '').searchParams.get('purpose')).toBe('agent');
    await follow(visitor, (await complete(service, id, user)).path);
    expect((await visitor.get(`${pathOf(second)}/${id}`)).text).not.toContain('type="password"');
  });

  it('cannot be completed by another client, or before the browser has begun', async () => {
    const link = await newBackendLink();
    const visitor = new Visitor(service);
    const { id } = await goToLogin(visitor, pathOf(link));
    const other = (await service.anotherOrganization()).development;
    expect((await complete(service, id, link.user, other)).status).toBe(404);
    expect((await complete(service, id, link.user, service.production)).status).toBe(404);
    expect((await complete(service, randomUUID(), link.user)).status).toBe(404);
    // Completed before the browser arrives at the login page: the browser has to bring the ticket.
    const { path } = await complete(service, id, link.user);
    expect((await visitor.get(`${pathOf(link)}/${id}`)).text).not.toContain('type="password"');
    // A lost response can be asked for again.
    expect((await complete(service, id, link.user)).path).toBe(path);
    expect(textOf((await follow(visitor, path)).page)).toContain('Your Netflix password');
  });

  it('does not open a link that was sent to a phone', async () => {
    const { id, path } = await newLink(service);
    expect((await new Visitor(service).get(`/sign-in/${id}`)).status).toBe(404);
    expect((await new Visitor(service).get(path)).status).toBe(200);
  });
});

describe('The return address', () => {
  it('gets the ID of the link and its status, and keeps its own query', async () => {
    const link = await newBackendLink({ return_url: 'https://shop.example.com/accounts?tab=1' });
    const visitor = new Visitor(service);
    const { page, path } = await logInFor(service, visitor, pathOf(link), link.user);
    expect(page.headers.get('content-security-policy')).not.toContain("form-action 'self'");
    const query = `tab=1&link_id=${link.id}`;
    expect(await visitor.submit(path, GOOD)).toMatchObject({
      status: 303,
      location: `https://shop.example.com/accounts?${query}&status=completed`,
    });
    expect((await visitor.get(path)).text).toContain(`${query.replace('&', '&amp;')}&amp;status=completed`);
    // Nobody else is sent there.
    expect((await new Visitor(service).get(pathOf(link))).text).not.toContain('shop.example.com/accounts');
  });

  it('keeps the rest of its query as it is, because it may be signed', async () => {
    const query = 'link_id=1&name=a%20b%2Bc+d&empty&status=x&&s%74atus=y&sum=%c3%a4~(!)';
    const link = await newBackendLink({ return_url: `https://shop.example.com/accounts?${query}` });
    const visitor = new Visitor(service);
    const { path } = await logInFor(service, visitor, pathOf(link), link.user);
    expect((await visitor.submit(path, { action: 'decline' })).location).toBe(
      `https://shop.example.com/accounts?name=a%20b%2Bc+d&empty&&sum=%c3%a4~(!)&link_id=${link.id}&status=cancelled`,
    );
  });

  it('gets the status that the link really has, if two forms end it at once', async () => {
    const link = await newBackendLink({ return_url: 'http://localhost:4300/done' });
    const visitor = new Visitor(service);
    const { path } = await logInFor(service, visitor, pathOf(link), link.user);
    const forms = [GOOD, { action: 'decline' }].map((fields) => visitor.submit(path, fields));
    const status = async (): Promise<string> => `status=${String(await statusOf(link))}`;
    for (const { location } of await Promise.all(forms))
      if (location !== path) expect(location).toContain(await status());
  });

  it('is also used when the user declines', async () => {
    const link = await newBackendLink({ return_url: 'http://localhost:4300/done' });
    const visitor = new Visitor(service);
    const { path } = await logInFor(service, visitor, pathOf(link), link.user);
    expect((await visitor.submit(path, { action: 'decline' })).location).toBe(
      `http://localhost:4300/done?link_id=${link.id}&status=cancelled`,
    );
    expect(
      (await service.request(`/sign-in-links/${link.id}`, { as: service.development })).body,
    ).toMatchObject({ status: 'cancelled', cancelled_by: 'user' });
  });

  it('is not used after its host was removed from the list', async () => {
    const body = { return_url: 'https://shop.example.com/accounts' };
    const links = [await newBackendLink(body), await newBackendLink(body)] as const;
    const open = async (link: (typeof links)[0]) => {
      const visitor = new Visitor(service);
      return { visitor, path: (await logInFor(service, visitor, pathOf(link), link.user)).path };
    };
    const opened = [await open(links[0]), await open(links[1])] as const;
    await save({ login_url: LOGIN_PAGE, return_hosts: 'other.example.com' });
    for (const [{ visitor, path }, fields, done] of [
      [opened[0], GOOD, 'completed'],
      [opened[1], { action: 'decline' }, 'cancelled'],
    ] as const) {
      const page = await visitor.get(path);
      expect(page.headers.get('content-security-policy')).toContain("form-action 'self'");
      expect((await visitor.submit(path, fields)).location).toBe(`${path}?done=${done}`);
      expect((await visitor.get(path)).text).not.toContain('shop.example.com/accounts');
    }
    // The link keeps its address: it is used again if the host is listed again.
    await save({ login_url: LOGIN_PAGE, return_hosts: 'shop.example.com' });
    expect((await opened[0].visitor.get(opened[0].path)).text).toContain('shop.example.com/accounts');
  });

  it.each([
    'http://shop.example.com/',
    'https://evil.example.com/',
    'https://shop.example.com:8443/',
    'https://shop.example.com@evil.example.com/',
    'https://user:password@shop.example.com/',
    'https://shop.example.com\\@evil.example.com/',
    'https://evil.example.com\\.shop.example.com/',
    'https://shop.example.com.evil.example.com/',
    'https://shop.example.com./',
    'https://sub.shop.example.com/',
    '//shop.example.com/',
    '/accounts',
    'https:/\\evil.example.com',
    'java\tscript:alert(1)',
    'javascript:alert(1)//https://shop.example.com/',
    'https://shop.example.com/#token',
    'https://shop.example.com/ a',
    'ftp://localhost/',
    'http://localhost.evil.example.com/',
  ])('is refused: %s', async (returnUrl) => {
    const { status, body } = await createLink(service, { return_url: returnUrl });
    expect({ status, body }).toMatchObject({
      status: 400,
      body: {
        error_code: 'INVALID_FIELD',
        error_message: expect.stringContaining('or an http or https URL of your own machine'),
      },
    });
  });

  it('is not at a loopback address in production', async () => {
    const { status, body } = await createLink(
      service,
      { return_url: 'http://localhost:4300/', proof: 'phone', phone_number: '+12125550123' },
      service.production,
    );
    expect(status).toBe(400);
    expect(JSON.stringify(body)).not.toContain('your own machine');
  });
});

describe('POST /sign-in-links', () => {
  it('sends the link to a phone, without an address in the response', async () => {
    const phoneNumber = '+12125550188';
    const link = await newBackendLink({ proof: 'phone', phone_number: phoneNumber, expires_in: 7_200 });
    expect(link).toMatchObject({ url: null, proof: 'phone' });
    const [message] = textMessagesTo(service, phoneNumber);
    expect(message?.body).toContain('The link works once, for 2 hours.');
    const [path = ''] = /\/sign-in\/[\w-]+/.exec(message?.body ?? '') ?? [];
    expect(textOf(await new Visitor(service).get(path))).toContain('Your Netflix password');
  });

  it.each([
    [{ proof: 'phone' }, /phone number/],
    [{ phone_number: '+12125550123' }, /phone number/],
    [{ proof: 'email' }, /proof/],
    [{ expires_in: 299 }, /expires in/],
    [{ expires_in: 86_401 }, /expires in/],
    [{ metadata: { a: 1 } }, /metadata/],
    [{ metadata: metadataOf(51) }, /metadata .*50/],
    [{ merchant_id: 0 }, /merchant id/],
  ])('refuses %j', async (body, message) => {
    const response = await createLink(service, body);
    expect(response).toMatchObject({ status: 400, body: { error_code: 'INVALID_FIELD' } });
    expect(String((response.body as unknown as Record<string, unknown>)['error_message'])).toMatch(message);
  });

  it('accepts 50 values, which are in the webhook of the sign-in', async () => {
    const link = await newBackendLink({ metadata: metadataOf(50) });
    const visitor = new Visitor(service);
    const { path } = await logInFor(service, visitor, pathOf(link), link.user);
    expect((await visitor.submit(path, GOOD)).status).toBe(303);
    expect(await eventsOf(link.user)).toMatchObject([
      { event: 'AUTHENTICATED', data: { metadata: metadataOf(50) } },
    ]);
  });

  it('refuses a premium-rate number', async () => {
    const response = await createLink(service, { proof: 'phone', phone_number: '+19002345678' });
    expect(response).toMatchObject({ status: 403, body: { error_code: 'NO_ACCESS' } });
  });

  it('expires after an hour by default', async () => {
    const link = await newBackendLink();
    const left = new Date(link.expires_at).getTime() - Date.now();
    expect(left).toBeGreaterThan(HOUR - MINUTE);
    expect(left).toBeLessThanOrEqual(HOUR);
  });

  it('requires a login page in production', async () => {
    expect(await createLink(service, {}, service.production)).toMatchObject({
      status: 400,
      body: { error_message: expect.stringContaining('set your login page') },
    });
  });

  it('returns the same link for the same idempotency key', async () => {
    const body = { external_user_id: newUser() };
    const headers = { 'idempotency-key': randomUUID() };
    const responses = [];
    for (let sent = 0; sent < 3; sent += 1)
      responses.push((await createLink(service, body, service.development, headers)).body.id);
    expect(new Set(responses).size).toBe(1);
  });

  it('accepts exactly 5 of 20 concurrent links for a user, beside those of another user', async () => {
    const user = newUser();
    const flood = Array.from({ length: 20 }, () => createLink(service, { external_user_id: user }));
    const statuses = (await Promise.all([...flood, createLink(service)])).map(({ status }) => status);
    expect(statuses.pop()).toBe(200);
    expect(statuses.toSorted()).toEqual([...Array(5).fill(200), ...Array(15).fill(429)]);
  });

  it('does not show links of other clients', async () => {
    const link = await newBackendLink();
    const other = (await service.anotherOrganization()).development;
    for (const as of [service.production, other])
      expect((await service.request(`/sign-in-links/${link.id}`, { as })).status).toBe(404);
    await expectUsualErrors(service, `/sign-in-links/${link.id}`, 'sign_in_link');
  });
});

describe('The dashboard', () => {
  it('creates a link, shows who created it, and records that', async () => {
    const user = newUser();
    const member = await service.login('member');
    const path = '/dashboard/development/sign-in-links/create';
    const fields = { external_user_id: user, merchant_id: '16', expires_in: '900' };
    const { status, text } = await submitForm(service, member, path, fields);
    expect(status).toBe(200);
    const [, url = ''] = /(http[^<"]*\/sign-in\/[\w-]+)/.exec(text) ?? [];
    const visitor = new Visitor(service);
    expect(textOf((await logInFor(service, visitor, new URL(url).pathname, user)).page)).toContain(
      'Your Netflix password',
    );
    expect((await auditEntries(service))[0]).toMatchObject({
      event: { action: 'sign_in_link.create' },
      target: { name: NETFLIX.name, environment: 'development' },
    });
    const list = `/dashboard/development/sign-in-links?external_user_id=${user}`;
    const page = await service.request(list, { login: member });
    expect(page.status).toBe(200);
  });

  it('suggests merchants, and finds the one that is meant by its name', async () => {
    const member = await service.login('member');
    const path = '/dashboard/development/sign-in-links/create';
    const { text, size } = await loggedIn(service, member).get(path);
    expect(text).toContain(`<option value="${NETFLIX.name}">`);
    expect(size).toBeLessThan(80_000);
    const sent = (merchant_id: string) =>
      submitForm(service, member, path, { external_user_id: newUser(), merchant_id });
    expect((await sent('netflix.com')).status).toBe(200);
    expect((await auditEntries(service))[0]).toMatchObject({ target: { name: NETFLIX.name } });
    const unknown = await sent('No such merchant');
    expect(unknown).toMatchObject({
      status: 400,
      problem: 'No merchant has this name. Choose one from the list.',
      text: expect.stringContaining('value="No such merchant"') as string,
    });
  });

  it('refuses to send a link to a user who may only read', async () => {
    const viewer = await service.login('viewer');
    const path = '/dashboard/development/sign-in-links/create';
    const fields = { external_user_id: newUser(), merchant_id: '16' };
    expect((await submitForm(service, viewer, path, fields)).status).toBe(403);
  });
});

describe('In the sandbox', () => {
  it('lets any test user log in without a login page', async () => {
    await save({ login_url: '' });
    const link = await newBackendLink();
    const visitor = new Visitor(service);
    const begun = await visitor.fill(pathOf(link), { action: 'log_in' });
    const login = await visitor.get(begun.location ?? '');
    expect(textOf(login)).toContain('Log in to');
    expect(textOf(login)).not.toContain('Enter a code');
    // Only agents use a phone number.
    expect(login.text).not.toMatch(/phone_number|agent/);
    await visitor.submit(begun.location ?? '', { action: 'log_in', external_user_id: link.user });
    const { page } = await follow(visitor, begun.location ?? '');
    expect(textOf(page)).toContain('Your Netflix password');
    await save({ login_url: LOGIN_PAGE, return_hosts: 'shop.example.com' });
  });
});
