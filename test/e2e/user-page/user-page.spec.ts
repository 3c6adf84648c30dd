import { randomUUID } from 'node:crypto';
import { ExpiryJob } from '../../../src/infrastructure/database/index.js';
import { MINUTE } from '../../../src/infrastructure/time/index.js';
import { auditEntries } from '../../support/logs/audited.js';
import { LoginAgent } from '../../support/agents/agent-logins.js';
import { moveClock } from '../../support/clock.js';
import { saveAgentSettings } from '../../support/pages/dashboard-forms.js';
import { finishErasures } from '../../support/merchants/erasures.js';
import { GOOD, NETFLIX } from '../../support/merchants/sign-in-links.js';
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
} from '../../support/agents/user-links.js';
import { BEHIND_PROXY, linkTo, seenOn, textOf, Visitor } from '../../support/pages/visitor.js';

const NOTHING_ENDED = 'Nothing was ended: this page had closed. Log in and try again.';

const service = useTestApp(BEHIND_PROXY);
let owner: Login;
let page: string;

beforeAll(async () => {
  owner = await service.login('owner');
  page = `/users/${service.development.clientId}`;
  await setLogin(LOGIN_PAGE);
});

async function setLogin(url: string): Promise<void> {
  expect((await saveAgentSettings(service, owner, { allowed_agents: 'any', login_url: url })).status).toBe(
    303,
  );
}

/** Connects an agent to the user. @returns the ID of the connection */
async function connectAgent(user: string): Promise<string> {
  const agent = await LoginAgent.register(service);
  const visitor = new Visitor(service);
  const begun = await visitor.get(agent.authorizePath());
  const id = new URL(begun.location ?? '').searchParams.get('authorization_id') ?? '';
  const { path } = await follow(visitor, (await complete(service, id, user)).path);
  const approved = await visitor.submit(path, { action: 'approve' });
  const code = new URL(approved.location ?? '').searchParams.get('code') ?? '';
  expect((await agent.redeem(code)).status).toBe(200);
  const [row] = await service.database.query<{ id: string }>(
    'SELECT id FROM agent_connection WHERE external_user_id = $1 ORDER BY created_at DESC LIMIT 1',
    [user],
  );
  return row?.id ?? '';
}

async function linkAccount(user: string): Promise<void> {
  const body = { external_user_id: user, merchant_id: NETFLIX.id };
  const { status } = await service.request('/development/accounts/link', { body, as: service.development });
  expect(status).toBe(200);
}

/** Opens the page as a user. */
async function opened(user: string): Promise<Visitor> {
  const visitor = new Visitor(service);
  const { path, page: shown } = await logInFor(service, visitor, page, user);
  expect({ path, status: shown.status }).toEqual({ path: page, status: 200 });
  return visitor;
}

const accountsOf = async (user: string) =>
  (
    await service.request<{ data: { state: string }[] }>(`/merchant-accounts?external_user_id=${user}`, {
      as: service.development,
    })
  ).body.data;

describe('The page of a user', () => {
  it('shows agents, accounts and open links in plain words', async () => {
    const user = newUser();
    await connectAgent(user);
    await linkAccount(user);
    await createLink(service, { external_user_id: user });
    const text = textOf(await (await opened(user)).get(page));
    for (const shown of [
      'Test Agent',
      'agent.example.com',
      'See which merchants',
      'Your accounts',
      'Netflix',
      'Cancel',
    ])
      expect(text).toContain(shown);
    // Times have no seconds.
    expect(text).toMatch(/Allowed \d{4}-\d\d-\d\d \d\d:\d\d UTC/);
    for (const jargon of ['MCP', 'OAuth', 'scope', 'token', 'accounts:read', user])
      expect(text).not.toContain(jargon);
  });

  it('is there for a user with nothing connected', async () => {
    const text = textOf(await (await opened(newUser())).get(page));
    for (const shown of [
      'No assistant can act for you.',
      'None of your accounts',
      'No links are waiting for you.',
    ])
      expect(text).toContain(shown);
  });

  it('disconnects, unlinks and cancels, once if sent twice, and records the user', async () => {
    const user = newUser();
    const connection = await connectAgent(user);
    await linkAccount(user);
    const link = (await createLink(service, { external_user_id: user })).body;
    const visitor = await opened(user);
    const actions = [
      ['disconnect', connection, 'disconnected', 'agent.disconnect', 'Test Agent (agent.example.com)'],
      ['unlink', String(NETFLIX.id), 'unlinked', 'merchant_account.unlink', NETFLIX.name],
      ['cancel', link.id, 'cancelled', 'sign_in_link.cancel', NETFLIX.name],
    ] as const;
    for (const [action, id, done, audited, name] of actions) {
      const before = (await auditEntries(service)).length;
      await visitor.get(page);
      const responses = await Promise.all([1, 2].map(() => visitor.submit(page, { action, id })));
      responses.push(await visitor.submit(page, { action, id }));
      for (const response of responses)
        expect(response).toMatchObject({ status: 303, location: `${page}?done=${done}` });
      const entries = await auditEntries(service);
      expect(entries.length - before).toBe(1);
      expect(entries[0]).toMatchObject({
        event: { action: audited },
        actor: { name: 'user of an API client' },
        target: { name, environment: 'development' },
      });
    }
    expect(await accountsOf(user)).toMatchObject([{ state: 'disconnected' }]);
    const shown = await service.request(`/sign-in-links/${link.id}`, { as: service.development });
    expect(shown.body).toMatchObject({ status: 'cancelled', cancelled_by: 'user' });
    const events = await service.database.query(
      "SELECT FROM webhook_event WHERE external_user_id = $1 AND event = 'AGENT_DISCONNECTED'",
      [user],
    );
    expect(events).toHaveLength(1);
  });

  it('asks before something ends, and says exactly what ended, also if two have the same name', async () => {
    const user = newUser();
    const [first, second] = [await connectAgent(user), await connectAgent(user)];
    await service.database.query(
      "UPDATE agent_connection SET created_at = '2026-05-02 10:20:30Z' WHERE id = $1",
      [second],
    );
    await linkAccount(user);
    const link = (await createLink(service, { external_user_id: user })).body;
    await service.database.query(
      "UPDATE agent_connection SET created_at = '2026-05-03 08:15:30Z', agent_host = 'phone.example' WHERE id = $1",
      [first],
    );
    await service.database.query("UPDATE merchant_account SET since = '2026-05-04Z'");
    const visitor = await opened(user);
    const text = (await visitor.get(page)).text;
    const asks = (action: string, id: string): string => `${page}?action=${action}&id=${id}`;
    // Nothing on the page itself ends anything.
    expect(text.match(/name="action" value="[^"]+"/g)).toEqual(['name="action" value="log_out"']);
    for (const [action, id, title, ended] of [
      [
        'disconnect',
        first,
        'Disconnect Test Agent?',
        'Test Agent (phone.example), allowed 2026-05-03 08:15 UTC, can no longer act for you. ' +
          'Another one with this name (agent.example.com), allowed 2026-05-02 10:20 UTC, is still connected.',
      ],
      [
        'unlink',
        String(NETFLIX.id),
        'Unlink Netflix?',
        'Your account at Netflix, connected 2026-05-04 00:00 UTC, is no longer connected to Test organization.',
      ],
      [
        'cancel',
        link.id,
        'Cancel the link for Netflix?',
        /^The link for Netflix, sent \d.+ UTC, no longer works\.$/,
      ],
    ] as const) {
      expect(text).toContain(`href="${asks(action, id).replace('&', '&amp;')}"`);
      const asked = await visitor.get(asks(action, id));
      expect([asked.status, textOf(asked)]).toEqual([200, expect.stringContaining(title)]);
      expect(linkTo('Go back', asked.text)).toBe(page);
      expect(asked.text).toContain(`name="id" value="${id}"`);
      const { location } = await visitor.submit(page, { action, id });
      const shown = await visitor.get(location ?? '');
      const [, notice = ''] = /<div class="notice good" role="status">(.*?)<\/div>/.exec(shown.text) ?? [];
      const said = notice.replaceAll(/<[^>]+>/g, '');
      expect(said).toEqual(typeof ended === 'string' ? ended : expect.stringMatching(ended));
      // Once; and what has ended is not asked about.
      expect((await visitor.get(location ?? '')).text).not.toContain('class="notice');
      expect((await visitor.get(asks(action, id))).location).toBe(page);
    }
    expect((await visitor.get(page)).text).toContain(asks('disconnect', second).replace('&', '&amp;'));
  });

  it('says after an agent has ended whether several or none of the same name remain', async () => {
    const user = newUser();
    const connections = [await connectAgent(user), await connectAgent(user), await connectAgent(user)];
    const visitor = await opened(user);
    for (const [index, said] of ['Other assistants with this name', 'Another one', ''].entries()) {
      const id = connections[index] ?? '';
      const { location } = await visitor.submit(page, { action: 'disconnect', id });
      const text = textOf(await visitor.get(location ?? ''));
      expect(text).toContain('can no longer act for you.');
      if (said) expect(text).toContain(said);
      expect(text.includes('still connected')).toBe(said !== '');
    }
  });

  it('does not unlink an account that was connected again after the user was asked, and says so', async () => {
    const user = newUser();
    await linkAccount(user);
    const setSince = (since: string) =>
      service.database.query('UPDATE merchant_account SET since = $2 WHERE external_user_id = $1', [
        user,
        since,
      ]);
    await setSince('2026-05-04T00:00:00Z');
    const visitor = await opened(user);
    const fields = { action: 'unlink', id: String(NETFLIX.id) };
    const asked = await visitor.get(`${page}?${new URLSearchParams(fields)}`);
    const first = seenOn(asked.text);
    const body = { external_user_id: user, merchant_id: NETFLIX.id };
    const ended = await service.request('/accounts/unlink', { body, as: service.development });
    expect(ended.status).toBe(200);
    await linkAccount(user);
    await setSince('2026-05-05T08:15:30Z');

    const refused = await visitor.submit(page, { ...fields, seen: first });
    expect([refused.status, textOf(refused)]).toEqual([400, expect.stringContaining('was changed after')]);
    expect(textOf(refused)).toContain('Connected: 2026-05-05 08:15:30 UTC');
    expect(linkTo('Go back', refused.text)).toBe(page);
    expect(await accountsOf(user)).toMatchObject([{ state: 'connected' }]);
    // The page that says so asks again.
    const { location } = await visitor.submit(page, { ...fields, seen: seenOn(refused.text) });
    expect(location).toBe(`${page}?done=unlinked`);
    expect(await accountsOf(user)).toMatchObject([{ state: 'disconnected' }]);
    // A button that was pressed twice says that the account has ended.
    const again = await visitor.submit(page, { ...fields, seen: first });
    expect(again.location).toBe(`${page}?done=unlinked`);
  });

  it('asks about nothing of other users, and only users who have logged in', async () => {
    const victim = newUser();
    const connection = await connectAgent(victim);
    await linkAccount(victim);
    const link = (await createLink(service, { external_user_id: victim })).body;
    const visitor = await opened(newUser());
    for (const [action, id] of [
      ['disconnect', connection],
      ['disconnect', 'x'],
      ['unlink', String(NETFLIX.id)],
      ['unlink', '-1'],
      ['cancel', link.id],
      ['cancel', ''],
    ]) {
      const path = `${page}?action=${action}&id=${id}`;
      expect([path, (await visitor.get(path)).location]).toEqual([path, page]);
      expect((await new Visitor(service).get(path)).text).toContain('Log in to Test organization');
    }
    expect(textOf(await visitor.get(`${page}?action=toString&id=x`))).toContain('Open requests');
  });

  it('changes nothing of other users, and accepts any ID', async () => {
    const victim = newUser();
    const connection = await connectAgent(victim);
    await linkAccount(victim);
    const link = (await createLink(service, { external_user_id: victim })).body;
    const visitor = await opened(newUser());
    for (const [action, id] of [
      ['disconnect', connection],
      ['unlink', String(NETFLIX.id)],
      ['cancel', link.id],
      ['disconnect', 'x'],
      ['unlink', 'x'],
      ['unlink', '99999999999999999999'],
      ['unlink', '-1'],
      ['cancel', randomUUID()],
      ['toString', ''],
      ['', ''],
    ])
      expect((await visitor.submit(page, { action: String(action), id: String(id) })).status).toBe(303);
    expect(await accountsOf(victim)).toMatchObject([{ state: 'connected' }]);
    const shown = await service.request(`/sign-in-links/${link.id}`, { as: service.development });
    expect(shown.body).toMatchObject({ status: 'pending' });
    const own = textOf(await (await opened(victim)).get(page));
    expect(own).toContain('Test Agent');
  });
});

describe('The cookie of the page', () => {
  it('is good for 15 minutes', async () => {
    const visitor = await opened(newUser());
    {
      using _clock = moveClock(service, 14 * MINUTE);
      expect(textOf(await visitor.get(page))).toContain('Open requests');
    }
    using _clock = moveClock(service, 15 * MINUTE);
    const late = await visitor.get(page);
    expect(textOf(late)).not.toContain('Open requests');
    const location = (await visitor.submit(page, { action: 'unlink', id: '16' })).location ?? '';
    expect(textOf(await visitor.get(location))).toContain(NOTHING_ENDED);
    // Once, and not if the address is opened.
    expect(textOf(await visitor.get(location))).not.toContain(NOTHING_ENDED);
    // The buttons of the page lead to one that asks first.
    expect(textOf(await visitor.get(`${page}?action=unlink&id=16`))).toContain(NOTHING_ENDED);
    const left = await visitor.submit(page, { action: 'log_out' });
    expect(left.location).toBe(`${page}?done=logged_out`);
  });

  it('is good for 15 minutes from the beginning of the login, also if the login opens the page again', async () => {
    const visitor = new Visitor(service);
    const { id } = await goToLogin(visitor, page);
    await follow(visitor, (await complete(service, id, newUser())).path);
    {
      using _clock = moveClock(service, 9 * MINUTE);
      expect((await follow(visitor, `${page}/${id}`)).page.text).toContain('Open requests');
    }
    {
      using _clock = moveClock(service, 14 * MINUTE);
      // Deletes logins that have expired.
      await service.app.get(ExpiryJob).run();
      expect(textOf(await visitor.get(page))).toContain('Open requests');
    }
    using _clock = moveClock(service, 15 * MINUTE);
    expect(textOf((await follow(visitor, `${page}/${id}`)).page)).not.toContain('Open requests');
  });

  it('is not set by a login that has ended, and the page says so', async () => {
    const visitor = new Visitor(service);
    const { id } = await goToLogin(visitor, page);
    const { path } = await complete(service, id, newUser());
    expect((await visitor.get(path)).status).toBe(303);
    using _clock = moveClock(service, 10 * MINUTE);
    const text = textOf((await follow(visitor, `${page}/${id}`)).page);
    expect(text).toContain('Your login has ended. Log in again.');
    expect(text).toContain('Log in to Test organization');
  });

  it.each([1, 12])('ends in all copies when the user closes the page after %d minutes', async (minutes) => {
    const user = newUser();
    await linkAccount(user);
    const visitor = await opened(user);
    const copy = visitor.copy();
    using _clock = moveClock(service, minutes * MINUTE);
    expect(textOf(await copy.get(page))).toContain('Netflix');
    const closed = await visitor.submit(page, { action: 'log_out' });
    expect(closed.location).toBe(`${page}?done=logged_out`);
    expect(textOf(await copy.get(page))).not.toContain('Netflix');
    const unlinked = await copy.submit(page, { action: 'unlink', id: String(NETFLIX.id) });
    expect(textOf(await copy.get(unlinked.location ?? ''))).toContain(NOTHING_ENDED);
    expect(await accountsOf(user)).toMatchObject([{ state: 'connected' }]);
  });

  it('is bound to the browser and the client, and good for nothing else', async () => {
    const user = newUser();
    const visitor = await opened(user);
    const cookie = visitor.cookies.get('user_page') ?? '';
    expect(Buffer.from(cookie, 'base64url').toString('latin1')).not.toContain(user);
    const thief = new Visitor(service);
    await thief.get(page);
    thief.cookies.set('user_page', cookie);
    expect(textOf(await thief.get(page))).not.toContain('Open requests');
    const other = (await service.anotherOrganization()).development;
    for (const clientId of [other.clientId, service.production.clientId])
      expect(textOf(await visitor.get(`/users/${clientId}`))).not.toContain('Open requests');
    // Changed, it is no cookie at all.
    for (const changed of [cookie.slice(1), `${cookie}A`, 'x', '']) {
      const copy = visitor.copy();
      copy.cookies.set('user_page', changed);
      expect(textOf(await copy.get(page))).not.toContain('Open requests');
    }
    expect((await visitor.get('/dashboard')).status).toBe(303);
    const link = (await createLink(service, { external_user_id: user })).body;
    expect((await visitor.get(pathOf(link))).text).not.toContain('type="password"');
    visitor.cookies.set('session', cookie);
    expect((await visitor.get('/dashboard')).location).toContain('/login');
  });

  it('ends when the user closes the page, and the login cannot open it again', async () => {
    const visitor = new Visitor(service);
    const { id } = await goToLogin(visitor, page);
    const { path } = await complete(service, id, newUser());
    await follow(visitor, path);
    expect(textOf(await visitor.get(page))).toContain('Open requests');
    // A lost response: the same login opens the same page.
    expect((await follow(visitor, `${page}/${id}`)).page.text).toContain('Open requests');
    const closed = await visitor.submit(page, { action: 'log_out' });
    expect(textOf(await visitor.get(closed.location ?? ''))).toContain('You can close this tab.');
    expect(textOf((await follow(visitor, `${page}/${id}`)).page)).not.toContain('Open requests');
    // The user goes back: the login is not that of another browser.
    const [ended = ''] = path.split('?');
    expect(textOf(await visitor.get(ended))).toContain('This request has ended');
  });

  it('ends when the user closes it, although the browser has opened the page of another client since', async () => {
    const user = newUser();
    const visitor = new Visitor(service);
    const { id } = await goToLogin(visitor, page);
    await follow(visitor, (await complete(service, id, user)).path);
    const cookie = visitor.cookies.get('user_page') ?? '';
    visitor.cookies.set('user_page', 'that of another client');
    const closed = await visitor.submit(page, { action: 'log_out' });
    expect(textOf(await visitor.get(closed.location ?? ''))).toContain('You can close this tab.');
    expect(visitor.cookies.get('user_page')).toBe('that of another client');
    visitor.cookies.set('user_page', cookie);
    expect(textOf(await visitor.get(page))).not.toContain('Open requests');
    expect(textOf((await follow(visitor, `${page}/${id}`)).page)).not.toContain('Open requests');
  });

  it('ends with all logins of the browser, and no others', async () => {
    const [visitor, other] = [new Visitor(service), new Visitor(service)];
    const user = newUser();
    const logInAs = async (browser: Visitor, name: string): Promise<string> => {
      const { id } = await goToLogin(browser, page);
      await follow(browser, (await complete(service, id, name)).path);
      return `${page}/${id}`;
    };
    const kept = await logInAs(other, user);
    const logins = [
      await logInAs(visitor, newUser()),
      await logInAs(visitor, user),
      await logInAs(visitor, user),
    ];
    expect((await visitor.submit(page, { action: 'log_out' })).location).toContain('logged_out');
    for (const login of logins)
      expect(textOf((await follow(visitor, login)).page)).not.toContain('Open requests');
    other.cookies.delete('user_page');
    expect(textOf((await follow(other, kept)).page)).toContain('Open requests');
  });

  it('does not outlive the erasure of the user', async () => {
    const user = newUser();
    await linkAccount(user);
    const visitor = await opened(user);
    const body = { external_user_id: user };
    await service.request('/external-users/erase', { body, as: service.development });
    await finishErasures(service);
    expect(textOf(await visitor.get(page))).not.toContain('Netflix');
  });
});

describe('A login for the page', () => {
  it('says its purpose, begins with a form only, and opens no link', async () => {
    const user = newUser();
    const visitor = new Visitor(service);
    const before = await service.database.query(
      "SELECT FROM agent_authorization WHERE purpose = 'user_page'",
    );
    expect(textOf(await visitor.get(page))).toContain('You can disconnect any of them.');
    const after = await service.database.query("SELECT FROM agent_authorization WHERE purpose = 'user_page'");
    expect(after).toHaveLength(before.length);
    const { id, purpose } = await goToLogin(visitor, page);
    expect(purpose).toBe('user_page');
    await follow(visitor, (await complete(service, id, user)).path);
    const link = (await createLink(service, { external_user_id: user })).body;
    expect((await visitor.get(`${pathOf(link)}/${id}`)).text).not.toContain('type="password"');
    expect((await visitor.submit(`${pathOf(link)}/${id}`, GOOD)).text).not.toContain('type="password"');
    // And a login for a link does not open the page.
    const other = new Visitor(service);
    const { path } = await logInFor(service, other, pathOf(link), user);
    const login = path.split('/').at(-1) ?? '';
    expect(textOf((await follow(other, `${page}/${login}`)).page)).not.toContain('Open requests');
  });

  it('is refused in another browser', async () => {
    const attacker = new Visitor(service);
    const { id } = await goToLogin(attacker, page);
    const { path } = await complete(service, id, newUser());
    const victim = new Visitor(service);
    expect((await follow(victim, path)).page.status).toBe(403);
    expect(textOf((await follow(attacker, path)).page)).not.toContain('Open requests');
    expect((await auditEntries(service))[0]).toMatchObject({
      event: { action: 'user_login.refuse' },
      target: { name: 'the user’s page' },
    });
  });
});

describe('The address of the page', () => {
  it('cannot be framed, and has forms of its own only once the user is known', async () => {
    const visitor = await opened(newUser());
    const { headers } = await visitor.get(page);
    expect(headers.get('content-security-policy')).toMatch(/frame-ancestors 'none'/);
    expect(headers.get('content-security-policy')).toMatch(/form-action 'self'/);
    expect(headers.get('cache-control')).toContain('no-store');
    // A form of another site has no token.
    const forged = new Visitor(service);
    for (const [name, value] of visitor.cookies) forged.cookies.set(name, value);
    expect((await forged.submit(page, { action: 'unlink', id: '16' })).status).toBe(403);
  });

  it('does not exist for unknown clients, or without a login', async () => {
    for (const id of [randomUUID(), 'x', service.production.clientId])
      expect((await new Visitor(service).get(`/users/${id}`)).status).toBe(404);
    await setLogin('');
    const visitor = new Visitor(service);
    const begun = await visitor.fill(page, { action: 'log_in' });
    await visitor.fill(begun.location ?? '', { action: 'log_in', external_user_id: newUser() });
    expect(textOf((await follow(visitor, begun.location ?? '')).page)).toContain('Open requests');
    await setLogin(LOGIN_PAGE);
  });

  it('is on the consent page', async () => {
    const agent = await LoginAgent.register(service);
    const visitor = new Visitor(service);
    const begun = await visitor.get(agent.authorizePath());
    const id = new URL(begun.location ?? '').searchParams.get('authorization_id') ?? '';
    const { page: consent } = await follow(visitor, (await complete(service, id, newUser())).path);
    expect(consent.text).toContain(`href="${page}"`);
  });
});
