import { startWebsite, type Website } from '../../../examples/partner-login/server.mjs';
import { MINUTE, SECOND } from '../../../src/infrastructure/time/index.js';
import { LoginAgent, returned } from '../../support/agents/agent-logins.js';
import { PHONE_NUMBER, sendRpc, toolCall } from '../../support/agents/agents.js';
import { moveClock } from '../../support/clock.js';
import { saveAgentSettings, submitForm } from '../../support/pages/dashboard-forms.js';
import { finishErasures } from '../../support/merchants/erasures.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { useTestApp, type Login } from '../../support/test-app.js';
import { expectUsualErrors } from '../../support/http/usual-errors.js';
import { BEHIND_PROXY, seenOn, Visitor, type PageResponse } from '../../support/pages/visitor.js';

const PARTNER = 'https://shop.example.com/connect?tenant=1';

const service = useTestApp(BEHIND_PROXY);
let owner: Login;
let agent: LoginAgent;

beforeAll(async () => {
  owner = await service.login('owner');
  agent = await LoginAgent.register(service);
  await useLogin(PARTNER);
});

async function useLogin(url: string | undefined): Promise<void> {
  const fields = { allowed_agents: 'any', login_url: url ?? '' };
  expect((await saveAgentSettings(service, owner, fields)).status).toBe(303);
}

/** Opens the authorization page. @returns the ID with which the user comes to the partner */
async function begin(visitor: Visitor): Promise<string> {
  const { location } = await visitor.get(agent.authorizePath());
  const url = new URL(location ?? '');
  expect(url.href.startsWith(PARTNER)).toBe(true);
  return url.searchParams.get('authorization_id') ?? '';
}

const USER = { external_user_id: 'user-1', phone_number: PHONE_NUMBER };

function complete(id: string, body: object = USER, as = service.development) {
  return service.request<{ redirect_url: string }>(`/mcp/authorizations/${id}/complete`, { body, as });
}

/** Completes an authorization. @returns the path to which the partner redirects */
async function completed(id: string): Promise<string> {
  const { status, body } = await complete(id);
  expect(status).toBe(200);
  const { pathname, search, searchParams } = new URL(body.redirect_url);
  rememberSecret(searchParams.get('ticket') ?? '');
  return pathname + search;
}

/** Returns to the service and follows the redirect to the consent page. */
async function returnTo(visitor: Visitor, path: string): Promise<PageResponse> {
  const first = await visitor.get(path);
  return first.status === 303 ? visitor.get(first.location ?? '') : first;
}

const pageOf = (path: string): string => path.replace(/\?.*/, '');

describe('A login at the partner', () => {
  it('leads to the consent page, and to a connection with the phone number', async () => {
    const visitor = new Visitor(service);
    const path = await completed(await begin(visitor));
    const consent = await returnTo(visitor, path);
    expect(consent.text).toContain('Connect Test Agent to Test organization?');
    const code = returned(await visitor.submit(pageOf(path), { action: 'approve' })).get('code') ?? '';
    const { access_token: token } = (await agent.redeem(code)).body;
    const message = toolCall('get_connection_info');
    const headers = { authorization: `Bearer ${token}` };
    const info = await sendRpc(service, message, headers, `/mcp/${service.development.clientId}`);
    expect(JSON.stringify(info.message)).toContain('+1 *** *** 0123');
  });

  it('is not finished before the partner says who the user is', async () => {
    const visitor = new Visitor(service);
    const id = await begin(visitor);
    const page = `${agent.issuerPath}/authorizations/${id}`;
    expect(await visitor.get(page)).toMatchObject({ status: 409 });
    // A page with a form, whose token the browser may use everywhere.
    await visitor.get('/login');
    for (const action of ['approve', 'log_in'])
      expect((await visitor.submit(page, { action, external_user_id: 'victim' })).location).toBe(page);
    expect((await visitor.get(page)).text).toContain('login is not finished');
  });

  it('cannot be used by the attacker who passed it to a victim', async () => {
    const attacker = new Visitor(service);
    const victim = new Visitor(service);
    const id = await begin(attacker);
    const path = await completed(id);
    // The attacker's browser has the cookie, but not the ticket.
    expect((await attacker.get(pageOf(path))).status).toBe(409);
    expect((await attacker.get(`${pageOf(path)}?ticket=${'x'.repeat(49)}`)).status).toBe(409);
    await attacker.get('/login');
    expect((await attacker.submit(pageOf(path), { action: 'approve' })).location).toBe(pageOf(path));
    // The victim's browser has the ticket, but not the cookie.
    const refused = await victim.get(path);
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('started in another browser');
    // From now on, neither of them can continue.
    expect((await returnTo(attacker, path)).text).toContain('another browser');
    expect((await attacker.submit(pageOf(path), { action: 'approve' })).location).toBe(pageOf(path));
    const [entry] = await service.database.query(
      'SELECT action, actor_name FROM audit_log ORDER BY sequence DESC LIMIT 1',
    );
    expect(entry).toMatchObject({ action: 'agent.refuse', actor_name: 'system' });
  });

  it('uses the ticket once', async () => {
    const visitor = new Visitor(service);
    const path = await completed(await begin(visitor));
    expect((await returnTo(visitor, path)).status).toBe(200);
    expect((await returnTo(visitor, path)).status).toBe(200);
    expect((await new Visitor(service).get(path)).status).toBe(403);
    returned(await visitor.fill(pageOf(path), { action: 'approve' }));
  });

  it('can be completed again with the same user until the browser has returned, if the response was lost', async () => {
    const visitor = new Visitor(service);
    const id = await begin(visitor);
    const path = await completed(id);
    const repeated = await Promise.all(Array.from({ length: 20 }, () => completed(id)));
    expect(new Set(repeated)).toEqual(new Set([path]));
    for (const other of [
      { external_user_id: 'user-2', phone_number: PHONE_NUMBER },
      { external_user_id: USER.external_user_id },
    ])
      expect((await complete(id, other)).status).toBe(409);
    expect((await returnTo(visitor, path)).status).toBe(200);
    expect((await complete(id)).status).toBe(409);
    returned(await visitor.fill(pageOf(path), { action: 'approve' }));
  });

  it('accepts exactly one of 20 concurrent completions', async () => {
    const id = await begin(new Visitor(service));
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => complete(id, { external_user_id: `user-${index}` })),
    );
    for (const { body } of responses)
      if (body.redirect_url) rememberSecret(new URL(body.redirect_url).searchParams.get('ticket') ?? '');
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, ...Array(19).fill(409)]);
  });

  it('is refused with credentials of another organization or environment', async () => {
    const id = await begin(new Visitor(service));
    const other = await service.anotherOrganization();
    for (const as of [other.development, service.production])
      expect(await complete(id, USER, as)).toMatchObject({ status: 404 });
    expect((await complete('x')).status).toBe(404);
    await completed(id);
  });

  it('is refused late, and for a request that the user declined', async () => {
    const visitor = new Visitor(service);
    const declined = await begin(visitor);
    const page = `${agent.issuerPath}/authorizations/${declined}`;
    await visitor.get('/login');
    returned(await visitor.submit(page, { action: 'decline' }));
    const late = await begin(visitor);
    expect(await complete(declined)).toMatchObject({ status: 409 });
    using _clock = moveClock(service, 10 * MINUTE + SECOND);
    expect(await complete(late)).toMatchObject({ status: 409 });
  });

  it('stores the ticket and the phone number unreadably', async () => {
    const path = await completed(await begin(new Visitor(service)));
    const ticket = new URLSearchParams(path.replace(/.*\?/, '')).get('ticket') ?? '';
    const rows = await service.database.query<{ row: string }>(
      'SELECT row::text FROM agent_authorization AS row',
    );
    const stored = JSON.stringify(rows);
    for (const secret of [ticket, PHONE_NUMBER]) {
      expect(stored).not.toContain(secret);
      expect(stored).not.toContain(Buffer.from(secret).toString('hex'));
    }
  });

  it('is erased with its user', async () => {
    const user = 'user-to-erase';
    const visitor = new Visitor(service);
    const { body } = await complete(await begin(visitor), { external_user_id: user });
    const { pathname, search, searchParams } = new URL(body.redirect_url);
    rememberSecret(searchParams.get('ticket') ?? '');
    await returnTo(visitor, pathname + search);
    const code = returned(await visitor.submit(pathname, { action: 'approve' })).get('code') ?? '';
    const { refresh_token: token } = (await agent.redeem(code)).body;
    await createCode({ external_user_id: user });
    await service.request(`/external-users/${user}`, { method: 'DELETE', as: service.development });
    expect((await agent.refresh(token)).body).toMatchObject({ error: 'invalid_grant' });
    await finishErasures(service);
    for (const table of ['agent_authorization', 'agent_connection', 'agent_connection_code', 'mcp_token'])
      expect([
        table,
        await service.database.query(`SELECT FROM ${table} WHERE external_user_id = $1`, [user]),
      ]).toEqual([table, []]);
  });

  it('returns the usual errors', async () => {
    const path = '/mcp/authorizations/19b11f7c-4c8e-49bf-853e-3cea2462349f/complete';
    expect((await complete('19b11f7c-4c8e-49bf-853e-3cea2462349f', {})).status).toBe(400);
    await expectUsualErrors(service, path, 'agent_authorization', { body: USER });
    await expectUsualErrors(service, '/mcp/connection-codes', 'agent_connection_code', { body: USER });
  });
});

describe('Not you?', () => {
  const ANOTHER = { external_user_id: 'user-2' };
  let visitor: Visitor;
  let id: string;
  let page: string;

  beforeEach(async () => {
    visitor = new Visitor(service);
    id = await begin(visitor);
    const path = await completed(id);
    page = pageOf(path);
    expect((await returnTo(visitor, path)).text).toContain('log out there first');
  });

  /** Says that another user logs in. @returns the ID with which that user comes to the partner */
  async function another(): Promise<string> {
    const { location } = await visitor.submit(page, { action: 'log_in_again' });
    const { searchParams, href } = new URL(location ?? '');
    expect(href.startsWith(PARTNER)).toBe(true);
    expect(searchParams.get('prompt')).toBe('login');
    return searchParams.get('authorization_id') ?? '';
  }

  /** Logs another user in. @returns the path of the consent page */
  async function loggedIn(next: string): Promise<string> {
    const { body } = await complete(next, ANOTHER);
    const { pathname, search, searchParams } = new URL(body.redirect_url);
    rememberSecret(searchParams.get('ticket') ?? '');
    expect((await returnTo(visitor, pathname + search)).text).toContain('user-2');
    return pathname;
  }

  it('begins a login with a new ID, whose user connects the agent', async () => {
    const next = await another();
    expect(next).not.toBe(id);
    const consent = await loggedIn(next);
    const code = returned(await visitor.submit(consent, { action: 'approve' })).get('code') ?? '';
    expect((await agent.redeem(code)).status).toBe(200);
    const connected = `/agent-connections?external_user_id=${ANOTHER.external_user_id}`;
    const { body } = await service.request<{ data: object[] }>(connected, { as: service.development });
    expect(body.data).toHaveLength(1);
  });

  it('leads to the same login if it is sent twice, also at the same time', async () => {
    const [first, second] = await Promise.all([another(), another()]);
    expect(second).toBe(first);
    expect(await another()).toBe(first);
    const consent = await loggedIn(first ?? '');
    expect((await visitor.submit(page, { action: 'log_in_again' })).location).toBe(page);
    expect((await visitor.get(page)).location).toBe(consent);
  });

  it('refuses late responses of the partner about the user before', async () => {
    const next = await another();
    expect((await complete(id)).status).toBe(409);
    await visitor.get('/login');
    expect((await visitor.submit(page, { action: 'approve' })).location).toBe(page);
    expect(await visitor.get(page)).toMatchObject({ location: `${agent.issuerPath}/authorizations/${next}` });
    await loggedIn(next);
  });

  it('leaves pages of the user before without effect', async () => {
    const consent = await loggedIn(await another());
    for (const action of ['approve', 'decline'])
      expect((await visitor.submit(page, { action })).location).toBe(page);
    returned(await visitor.fill(consent, { action: 'approve' }));
  });

  it('begins a login that expires with the one that it replaces', async () => {
    await service.database.query(
      "UPDATE agent_authorization SET expires_at = expires_at - INTERVAL '9 minutes' WHERE id = $1",
      [id],
    );
    const next = await another();
    using _clock = moveClock(service, MINUTE);
    expect((await complete(next, ANOTHER)).status).toBe(409);
  });

  it('refuses an approval for another user than the one whom the page showed', async () => {
    const seen = JSON.stringify({ User: 'user-2' });
    const refused = await visitor.submit(page, { action: 'approve', seen });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('User: user-1');
    const shown = await visitor.get(page);
    returned(await visitor.submit(page, { action: 'approve', seen: seenOn(shown.text) }));
  });
});

async function createCode(body: object = USER, as = service.development): Promise<string> {
  const created = await service.request<{ code: string }>('/mcp/connection-codes', { body, as });
  expect(created.status).toBe(200);
  rememberSecret(created.body.code, created.body.code.replace('-', ''));
  return created.body.code;
}

describe('Connection codes', () => {
  beforeAll(() => useLogin(undefined));
  afterAll(() => useLogin(PARTNER));

  /** Opens the page on which the user types the code. */
  async function open(): Promise<{ visitor: Visitor; page: string }> {
    const visitor = new Visitor(service);
    return { visitor, page: (await visitor.get(agent.authorizePath())).location ?? '' };
  }

  it('replace the login, in any spelling', async () => {
    const code = await createCode();
    const { visitor, page } = await open();
    const entered = await visitor.fill(page, {
      action: 'enter_code',
      code: ` ${code.toLowerCase().replace('-', ' ')}`,
    });
    expect(entered).toMatchObject({ status: 303, location: page });
    const approved = returned(await visitor.fill(page, { action: 'approve' }));
    expect((await agent.redeem(approved.get('code') ?? '')).status).toBe(200);
  });

  it('work once, also for 20 concurrent users', async () => {
    const code = await createCode();
    const users = await Promise.all(Array.from({ length: 20 }, open));
    const responses = await Promise.all(
      users.map(({ visitor, page }) => visitor.fill(page, { action: 'enter_code', code })),
    );
    expect(responses.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 400)).toHaveLength(19);
  });

  it('expire after 5 minutes, and belong to their API client', async () => {
    const code = await createCode();
    const foreign = await createCode(USER, service.production);
    const { visitor, page } = await open();
    expect((await visitor.fill(page, { action: 'enter_code', code: foreign })).status).toBe(400);
    using _clock = moveClock(service, 5 * MINUTE + SECOND);
    expect((await visitor.fill(page, { action: 'enter_code', code })).status).toBe(400);
  });

  it('are not asked for again when the request has expired, and the page says so', async () => {
    const { visitor, page } = await open();
    await visitor.get(page);
    using _clock = moveClock(service, 10 * MINUTE);
    const forms: Record<string, string>[] = [
      { action: 'enter_code', code: 'BBBB-BBBB' },
      { action: 'log_in', external_user_id: ' ' },
    ];
    for (const fields of forms)
      expect(await visitor.submit(page, fields)).toMatchObject({ status: 303, location: page });
    expect((await visitor.get(page)).text).toContain('This request has expired');
  });

  it('can be guessed 5 times for each request', async () => {
    const { visitor, page } = await open();
    await visitor.get(page);
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => visitor.submit(page, { action: 'enter_code', code: 'BBBB-BBBB' })),
    );
    expect(responses.filter(({ status }) => status === 400)).toHaveLength(5);
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(15);
  });

  it('are kept by a form that is sent twice, or after the request has ended', async () => {
    const code = await createCode();
    const { visitor, page } = await open();
    await visitor.get(page);
    const entered = await Promise.all([1, 2].map(() => visitor.submit(page, { action: 'enter_code', code })));
    expect(entered).toMatchObject([
      { status: 303, location: page },
      { status: 303, location: page },
    ]);
    const ended = await open();
    await ended.visitor.fill(ended.page, { action: 'decline' });
    const unused = await createCode();
    await ended.visitor.submit(ended.page, { action: 'enter_code', code: unused });
    const { visitor: next, page: nextPage } = await open();
    const used = await next.fill(nextPage, { action: 'enter_code', code: unused });
    expect(used).toMatchObject({ status: 303, location: nextPage });
  });

  it('can be guessed 20 times an hour from an address at each partner, and blank ones do not count', async () => {
    const ip = '192.0.2.77';
    const other = await service.anotherOrganization();
    const agents = await Promise.all(
      [service.development.clientId, other.development.clientId].map((clientId) =>
        LoginAgent.register(service, { clientId }),
      ),
    );
    const guess = async (at: LoginAgent | undefined, ...codes: string[]): Promise<number> => {
      const visitor = new Visitor(service, ip);
      const page = (await visitor.get(at?.authorizePath() ?? '')).location ?? '';
      await visitor.get(page);
      for (const code of codes.slice(0, -1)) await visitor.submit(page, { action: 'enter_code', code });
      return (await visitor.submit(page, { action: 'enter_code', code: codes.at(-1) ?? '' })).status;
    };
    const [here, there] = agents;
    expect(await guess(here, '', ' ', '-', '', ' ', '-', await createCode())).toBe(303);
    const wrong = await Promise.all(Array.from({ length: 21 }, () => guess(here, 'BBBB-BBBB')));
    expect(wrong.toSorted()).toEqual([...Array(20).fill(400), 429]);
    expect(await guess(there, 'BBBB-BBBB')).toBe(400);
  });

  it('are stored as keyed digests', async () => {
    const code = await createCode();
    const rows = await service.database.query('SELECT row::text FROM agent_connection_code AS row');
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(code.replace('-', ''));
  });

  it('are the only login in production', async () => {
    const path = '/dashboard/production/agents/settings';
    expect((await submitForm(service, owner, path, { allowed_agents: 'any' })).status).toBe(303);
    const live = await LoginAgent.register(service, { clientId: service.production.clientId });
    const visitor = new Visitor(service);
    const page = (await visitor.get(live.authorizePath())).location ?? '';
    expect((await visitor.get(page)).text).not.toContain('User ID');
    const forged = await visitor.submit(page, { action: 'log_in', external_user_id: 'victim' });
    expect(forged.location).toBe(page);
    expect((await visitor.get(page)).text).toContain('Enter a code');
    await visitor.submit(page, { action: 'enter_code', code: await createCode(USER, service.production) });
    const code = returned(await visitor.fill(page, { action: 'approve' })).get('code') ?? '';
    expect((await live.redeem(code)).body.refresh_token).toMatch(/^mcr_live_/);
  });
});

describe('examples/partner-login', () => {
  let website: Website;

  beforeAll(async () => {
    const { clientId, secret: clientSecret } = service.development;
    website = await startWebsite({ serviceUrl: service.baseUrl, clientId, clientSecret });
    await useLogin(`${website.url}/connect-agent`);
  });
  afterAll(() => website.close());

  it('logs its user in, and hands the user over to the consent page', async () => {
    const visitor = new Visitor(service);
    const { location } = await visitor.get(agent.authorizePath());
    const login = await fetch(location ?? '');
    const id = /name="authorization_id" value="([\da-f-]{36})"/.exec(await login.text())?.[1] ?? '';
    const form = { authorization_id: id, name: 'ada', password: 'wrong' };
    const post = (fields: Record<string, string>) =>
      fetch(`${website.url}/login`, {
        method: 'POST',
        body: new URLSearchParams(fields),
        redirect: 'manual',
      });
    expect((await post(form)).status).toBe(403);
    const loggedIn = await post({ ...form, password: 'correct horse' });
    const cookie = loggedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const returning = await fetch(new URL(loggedIn.headers.get('location') ?? '', website.url), {
      headers: { cookie },
      redirect: 'manual',
    });
    const { pathname, search, searchParams } = new URL(returning.headers.get('location') ?? '');
    rememberSecret(searchParams.get('ticket') ?? '');
    await returnTo(visitor, pathname + search);
    const code = returned(await visitor.submit(pathname, { action: 'approve' })).get('code') ?? '';
    expect((await agent.redeem(code)).status).toBe(200);
    const connections = await service.request<{ data: object[] }>(
      '/agent-connections?external_user_id=user-ada',
      {
        as: service.development,
      },
    );
    expect(connections.body.data).toHaveLength(1);
    // Somebody else selects "Not you?".
    const query = new URLSearchParams({ authorization_id: id, prompt: 'login' });
    const again = await fetch(`${website.url}/connect-agent?${query}`, { headers: { cookie } });
    expect(await again.text()).toContain(`name="authorization_id" value="${id}"`);
  });
});
