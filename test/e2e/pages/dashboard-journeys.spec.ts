import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { AnyEvent } from '../../../src/infrastructure/event-catalog/index.js';
import { HOUR } from '../../../src/infrastructure/time/index.js';
import { OrganizationQueryQueue } from '../../../src/modules/request-logs/index.js';
import { WebhookPublisher } from '../../../src/modules/webhooks/index.js';
import {
  addSamlConfiguration,
  allowDomain,
  grantRole,
  submitForm,
} from '../../support/pages/dashboard-forms.js';
import { addInvited, addUser } from '../../support/pages/dashboard-users.js';
import { eventually } from '../../support/eventually.js';
import { useTestApp, type Login } from '../../support/test-app.js';
import { CREATE_MCP_TOKEN, CREATE_SESSION } from '../../support/documents/operations.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { newSigner } from '../../support/logins/saml-provider.js';
import { samlMetadata } from '../../support/logins/saml.js';
import { seenOn, textOf, Visitor, visitorWithRole } from '../../support/pages/visitor.js';

const INVITE = '/dashboard/users/invitations/new';
const HTML = { accept: 'text/html' };

const service = useTestApp();

const endRecentLogins = () =>
  service.database.query(`UPDATE dashboard_session SET authenticated_at = now() - interval '61 minutes'`);

const requireSecondFactor = (from: string) =>
  service.database.query(`UPDATE organization SET second_factor_required_from = ${from}`);

const invitation = () => ({ email: `${randomUUID()}@example.com`, name: 'Grace Hopper', role: 'viewer' });

describe('A notice of the dashboard', () => {
  it('is shown once, after the form that it is about, and never because of an address', async () => {
    const owner = await visitorWithRole(service);
    const notice = 'The user was invited.';
    const { location } = await owner.fill(INVITE, invitation());
    const path = location ?? '';
    const forged = await visitorWithRole(service);
    expect((await forged.get(path)).text).not.toContain(notice);
    expect((await owner.get(path)).text).toContain(notice);
    expect((await owner.get(path)).text).not.toContain(notice);
  });
});

describe('A form that was not accepted', () => {
  it('keeps the input after a logout in another tab, until the user is logged in again', async () => {
    const user = await addUser(service);
    const visitor = new Visitor(service);
    await visitor.logIn(user.email, user.password);
    await visitor.get(INVITE);
    const tab = visitor.copy();
    await tab.submit('/logout');
    const typed = invitation();
    const lost = await visitor.submit(INVITE, typed);
    expect([lost.status, lost.location]).toEqual([401, null]);
    expect(lost.text).toContain('You were logged out in the meantime. Nothing was changed.');
    expect(lost.text).toContain(`name="email" value="${typed.email}"`);
    expect(lost.text).toContain('name="name" value="Grace Hopper"');

    await visitor.logIn(user.email, user.password);
    // The token of the form belongs to the login before; the page that follows has a new one.
    const again = await tab.copy().submit(INVITE, typed);
    expect(again.text).toContain('Send again');
    await visitor.get(INVITE);
    expect((await visitor.submit(INVITE, typed)).location).toMatch(/done=invited$/);
  });

  it('keeps the input, without passwords, if its token expired', async () => {
    const visitor = new Visitor(service);
    await visitor.get('/login?with=password');
    const fields = { form_token: 'x'.repeat(43), email: 'ada@example.com', password: 'a secret of mine' };
    const { status, text } = await visitor.submit('/login', fields);
    expect([status, text]).toEqual([403, expect.stringContaining('Send the form again')]);
    expect(text).toContain('name="email" value="ada@example.com"');
    expect(text).toContain('<li>email: ada@example.com</li>');
    expect(text).toContain('except for passwords and codes');
    expect(text).not.toContain('a secret of mine');
  });

  it('says how large it can be, if it is larger', async () => {
    const visitor = new Visitor(service);
    await visitor.get('/login?with=password');
    const { status, text } = await visitor.submit('/login', { email: 'x'.repeat(20_000) });
    expect([status, text]).toEqual([413, expect.stringContaining('It can have at most 16 KB.')]);
  });

  it('says that cookies are missing, and not that it is out of date, if it comes without any', async () => {
    const visitor = new Visitor(service);
    await visitor.get('/login?with=password');
    const fields = { form_token: 'x'.repeat(43), email: 'ada@example.com', password: 'a secret of mine' };
    const outdated = await visitor.submit('/login', fields);
    expect(outdated.text).toContain('This form is out of date');
    for (const sent of [fields, { form_token: '' }]) {
      visitor.cookies.clear();
      // Another program of the domain has set it.
      visitor.cookies.set('_ga', 'GA1.1');
      const { status, text } = await visitor.submit('/login', sent);
      expect([status, text]).toEqual([403, expect.stringContaining('Your browser sent no cookies')]);
      expect(text).not.toContain('out of date');
    }
    visitor.cookies.clear();
    visitor.cookies.set('_ga', 'GA1.1');
    const withLogin = await visitor.submit(INVITE, invitation());
    expect(withLogin.text).toContain('Your browser sent no cookies');
    expect(withLogin.text).not.toContain('logged out');
    // The page sets the cookies, and keeps the input, so that the form can be sent again.
    expect(visitor.cookies.size).toBeGreaterThan(0);
  });

  it('offers to fill in the own password of the user again, and no other secret', async () => {
    const visitor = new Visitor(service);
    const tokens = { form_token: 'x'.repeat(43) };
    await visitor.get('/login?with=password');
    const own = await visitor.submit('/login', {
      ...tokens,
      email: 'ada@example.com',
      password: 'a secret of mine',
    });
    expect(own.text).toMatch(/name="password"[^>]*autocomplete="current-password"/);
    const another = { ...tokens, email: 'ada@example.com', new_password: 'a new secret' };
    const fresh = await visitor.submit('/password-reset/confirm', another);
    expect(fresh.text).toMatch(/name="new_password"[^>]*autocomplete="new-password"/);
  });

  it('does not say that nothing was changed if the database was lost while it was processed', async () => {
    const owner = await visitorWithRole(service);
    await owner.get(INVITE);
    await service.database.cutOff();
    const lost = await owner.submit(INVITE, invitation());
    const page = await owner.get(INVITE);
    await service.database.reconnect();
    expect([lost.status, page.status]).toEqual([503, 503]);
    expect(lost.text).toContain('It is not known whether anything was changed.');
    expect(lost.text + page.text).not.toContain('Nothing was changed');
  });

  it.each([
    ['/login/passkey', 303],
    ['/login/again', 303],
    ['/account/sessions/end-others', 405],
  ])('can be opened by its address, as after a reload: %s', async (path, status) => {
    const owner = await visitorWithRole(service);
    const page = await owner.get(path, { accept: 'text/html' });
    expect([page.status, page.location]).toEqual([status, status === 303 ? '/login' : null]);
    expect(page.text).not.toContain('Allowed methods');
  });

  it('says that browsers keep no cookies over http if it was opened with an http address of another machine', async () => {
    const visitor = new Visitor(service);
    const lan = { host: '192.168.1.7:3000', cookie: '' };
    for (const [path, fields] of [
      ['/login', { email: 'ada@example.com', password: 'a secret of mine' }],
      ['/login/passkey', { credential: 'x' }],
      ['/password-reset', { email: 'ada@example.com' }],
      [INVITE, invitation()],
    ] as const) {
      const { status, text } = await visitor.submit(path, fields, lan);
      expect([path, status, text]).toEqual([path, 403, expect.stringContaining('with an http address')]);
      expect(text).not.toContain('Allow cookies');
    }
    // The proxy in front of the service terminates TLS, although the service does not trust it.
    const https = await visitor.submit('/login', {}, { ...lan, 'sec-fetch-site': 'same-origin' });
    expect(https.text).toContain('Allow cookies');
  });

  describe('of a route with a limit of its own', () => {
    const NEW_SAML = '/dashboard/single-sign-on/configurations/new';
    // Larger than other forms may be.
    const fields = {
      name: 'Okta',
      metadata_xml: `<EntityDescriptor>${'<!-- A comment. -->'.repeat(13_000)}`,
    };
    const kept = `value="${fields.metadata_xml.replaceAll('<', '&lt;')}"`;

    it.each<[string, string, (visitor: Visitor) => unknown]>([
      ['its login is not recent', 'was too long ago', () => endRecentLogins()],
      [
        'its login has a time that has not come',
        'was too long ago',
        () =>
          service.database.query(
            `UPDATE dashboard_session SET authenticated_at = now() + interval '61 minutes'`,
          ),
      ],
      ['the user was logged out', 'You were logged out', (visitor) => visitor.copy().submit('/logout')],
      ['the browser sent no cookies', 'sent no cookies', (visitor) => visitor.cookies.clear()],
      ['it is out of date', 'out of date', (visitor) => visitor.cookies.set('browser', 'other')],
      [
        'the organization requires a second factor by now',
        'Set up the second factor in a new tab',
        () => requireSecondFactor('now()'),
      ],
    ])('is kept whole if %s', async (_, reason, change) => {
      const owner = await visitorWithRole(service);
      await owner.get(NEW_SAML);
      await change(owner);
      const { status, text } = await owner.submit(NEW_SAML, fields);
      await requireSecondFactor('NULL');
      expect([status >= 400, text]).toEqual([true, expect.stringContaining(reason)]);
      expect(text.includes(kept)).toBe(true);
      // Once, and not a second time for the user to read.
      expect(text.length).toBeLessThan(1.5 * kept.length);
    });
  });

  describe('and was opened by another user of the same browser', () => {
    const opened = async () => {
      const ada = await visitorWithRole(service);
      await ada.get(INVITE);
      const grace = ada.copy();
      grace.cookies.set('session', (await visitorWithRole(service)).session ?? '');
      return { ada, grace };
    };

    it.each<[string, () => unknown, Record<string, string>]>([
      ['its token', () => undefined, {}],
      ['the age of the login', () => endRecentLogins(), { reason: '"'.repeat(4_000) }],
      ['the second factor', () => requireSecondFactor('now()'), {}],
    ])('is not shown if it is refused because of %s', async (_, change, more) => {
      const { ada, grace } = await opened();
      await change();
      const typed = { ...invitation(), ...more };
      const [own, foreign] = [await ada.copy().submit(INVITE, typed), await grace.submit(INVITE, typed)];
      await requireSecondFactor('NULL');
      expect(foreign.text).not.toContain(typed.email);
      expect(foreign.text).not.toContain('Send again');
      // The login of the user who opened it accepts the form, or shows it.
      expect(own.location?.endsWith('done=invited') || own.text.includes(typed.email)).toBe(true);
    });

    it('is not carried through the login', async () => {
      const { ada, grace } = await opened();
      await endRecentLogins();
      const typed = invitation();
      const [own, foreign] = [await ada.submit(INVITE, typed), await grace.submit(INVITE, typed)];
      expect([own.status, foreign.status]).toEqual([307, 307]);
      const refused = await grace.submit(foreign.location ?? '', typed);
      const login = `/login?${new URLSearchParams({ next: INVITE, again: 'form' })}`;
      expect([refused.status, refused.location, refused.text]).toEqual([303, login, '']);
      expect((await ada.submit(own.location ?? '', typed)).text).toContain(typed.email);
    });

    it('is shown to this user only, if it was shown again while nobody was logged in', async () => {
      const { ada, grace } = await opened();
      const logins = [ada.session ?? '', grace.session ?? ''] as const;
      const tab = ada.copy();
      tab.cookies.delete('session');
      const typed = invitation();
      expect((await tab.submit(INVITE, typed)).text).toContain(`value="${typed.email}"`);
      for (const [session, isShown] of [
        [logins[1], false],
        [logins[0], true],
      ] as const) {
        const next = tab.copy();
        next.cookies.set('session', session);
        const { status, text } = await next.submit(INVITE, typed);
        expect([status, text.includes(typed.email)]).toEqual([403, isShown]);
      }
    });

    it('is not shown, but accepted for its login, if its page is one of version 0.4', async () => {
      const ada = await visitorWithRole(service);
      const { text } = await ada.get(INVITE);
      const [, token = ''] = /name="form_token" value="([\w-]+)"/.exec(text) ?? [];
      const form_token = Buffer.from(token, 'base64url').subarray(0, 32).toString('base64url');
      const typed = invitation();
      const tab = ada.copy();
      tab.cookies.set('session', (await visitorWithRole(service)).session ?? '');
      expect((await tab.submit(INVITE, { ...typed, form_token })).text).not.toContain(typed.email);
      expect((await ada.submit(INVITE, { ...typed, form_token })).location).toMatch(/done=invited$/);
    });
  });

  it('is refused, and its input not kept, if it comes from another site', async () => {
    const owner = await visitorWithRole(service);
    await owner.get(INVITE);
    const { status, text } = await owner.submit(INVITE, invitation(), { 'sec-fetch-site': 'cross-site' });
    expect(status).toBe(403);
    expect(text).toContain('The request comes from a page of another site.');
    expect(text).not.toContain('Send again');
    expect(text).not.toContain('Grace Hopper');
  });
});

describe('A form that changes something', () => {
  it('is accepted only once if two users send it at the same time', async () => {
    const owners = [await visitorWithRole(service), await visitorWithRole(service)];
    const { location } = await owners[0]!.fill(INVITE, invitation());
    const path = `${(location ?? '').split('?')[0]}/change`;
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all(
        owners.map(async (owner, index) => {
          const seen = seenOn((await owner.get(path)).text);
          return { owner, fields: { seen, name: `Grace ${round}-${index}`, role: 'member' } };
        }),
      ).then((forms) => Promise.all(forms.map(({ owner, fields }) => owner.submit(path, fields))));
      expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 400]);
    }
  });
});

describe('A form that was opened before another user changed the same thing', () => {
  it.each<{
    readonly what: string;
    readonly open: (owner: Visitor & { readonly login: Login }) => string | Promise<string>;
    readonly first: Record<string, string>;
    readonly second: Record<string, string>;
    readonly current: string;
  }>([
    {
      what: 'a user',
      open: async (owner) =>
        `${(await owner.fill(INVITE, invitation())).location?.replace(/\?.*/, '')}/change`,
      first: { name: 'Grace Murray', role: 'viewer' },
      second: { name: 'Grace', role: 'member' },
      current: 'Name: Grace Murray; Role: Viewer',
    },
    {
      what: 'a webhook endpoint',
      open: async ({ login }) => {
        const fields = { url: `https://hooks.example.com/${randomUUID()}` };
        const path = '/dashboard/development/webhook-endpoints';
        return `${path}/${(await submitForm(service, login, `${path}/new`, fields)).id}/edit`;
      },
      first: { url: 'https://hooks.example.com/first' },
      second: { url: 'https://hooks.example.com/second', description: 'Mine' },
      current: 'URL: https://hooks.example.com/first',
    },
    {
      what: 'the single sign-on settings',
      open: () => '/dashboard/single-sign-on',
      first: { creates_users: 'yes' },
      second: { member_values: 'devs' },
      current: 'New people become users: Yes',
    },
    {
      what: 'the name of an API client',
      open: () => `/dashboard/development/api-credentials/${service.development.clientId}/rename`,
      first: { name: 'Shop' },
      second: { name: 'Store' },
      current: 'Name: Shop',
    },
    {
      what: 'the settings for agents',
      open: () => '/dashboard/development/agents/settings',
      first: { allowed_agents: 'hosts', allowed_hosts: 'claude.ai' },
      second: { allowed_agents: 'off' },
      current: 'Agents that may log in: Agents of the listed hosts; Listed hosts: claude.ai',
    },
    {
      what: 'an identity provider',
      open: async ({ login }) =>
        `/dashboard/single-sign-on/${await addSamlConfiguration(service, login)}/change`,
      first: { name: 'Okta of the group' },
      second: { name: 'Okta of the company' },
      current: 'Name: Okta of the group',
    },
  ])('does not undo the change: $what', async ({ open, first, second, current }) => {
    const [owner, other] = [await visitorWithRole(service), await visitorWithRole(service)];
    const path = await open(owner);
    const seen = seenOn((await owner.get(path)).text);
    expect((await other.fill(path, { ...first, seen })).status).toBe(303);
    const refused = await owner.submit(path, { ...second, seen });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(current)]);
    expect(refused.text).toContain('This was changed after you opened the form. Nothing was saved.');
    for (const value of Object.values(second)) expect(refused.text).toContain(`value="${value}"`);
    expect((await owner.submit(path, { ...second, seen: seenOn(refused.text) })).status).toBe(303);
  });
});

describe('A confirmation of what another user changed after the page was opened', () => {
  type Owner = Awaited<ReturnType<typeof visitorWithRole>>;
  interface Case {
    readonly what: string;
    /** @returns the page, and how somebody else changes what it shows */
    readonly open: (
      owner: Owner,
      other: Owner,
    ) => Promise<{
      readonly page: string;
      readonly action?: string;
      readonly change: () => Promise<unknown>;
    }>;
    readonly fields?: Record<string, string>;
  }
  const SSO = '/dashboard/single-sign-on';
  const provider = async ({ login }: Owner): Promise<string> =>
    `${SSO}/${await addSamlConfiguration(service, login)}`;
  const enabled = async (owner: Owner): Promise<string> => {
    const page = await provider(owner);
    await owner.fill(`${page}/enable`, {});
    return page;
  };
  const withMetadata = (metadata_xml: string) => ({ name: 'Okta', metadata_xml });
  const user = async (owner: Owner): Promise<string> =>
    (await owner.fill(INVITE, invitation())).location?.replace(/\?.*/, '') ?? '';
  const endpoint = async ({ login }: Owner): Promise<string> => {
    const path = '/dashboard/development/webhook-endpoints';
    const fields = { url: `https://hooks.example.com/${randomUUID()}` };
    return `${path}/${(await submitForm(service, login, `${path}/new`, fields)).id}`;
  };
  const credentials = async (owner: Owner): Promise<string> => {
    const { text } = await owner.get('/dashboard/development/api-credentials');
    return /\/dashboard\/development\/api-credentials\/[\w-]{36}/.exec(text)?.[0] ?? '';
  };
  const userAction = (name: string): Case => ({
    what: `${name} of a user`,
    open: async (owner, other) => {
      const page = await user(owner);
      const change = () => other.fill(`${page}/change`, { name: 'Grace', role: 'admin' });
      return { page: `${page}/${name}`, change };
    },
  });

  it.each<Case>([
    {
      what: 'enabling an identity provider',
      open: async (owner, other) => {
        const page = await provider(owner);
        const metadata = samlMetadata({ certificates: [(await newSigner()).certificate] });
        return {
          page: `${page}/enable`,
          change: async () => {
            await other.fill(`${page}/change`, withMetadata(metadata));
            // A changed provider can be enabled only after a test.
            const id = page.split('/').at(-1);
            await service.database.query('UPDATE saml_configuration SET tested_at = now() WHERE id = $1', [
              id,
            ]);
          },
        };
      },
    },
    {
      what: 'disabling an identity provider',
      open: async (owner, other) => {
        const page = await enabled(owner);
        return { page: `${page}/disable`, change: () => other.fill(`${page}/change`, { name: 'Entra' }) };
      },
    },
    {
      what: 'removing our older certificate',
      open: async (owner, other) => {
        const page = await provider(owner);
        await owner.get(page);
        const add = (visitor: Owner) => visitor.fill(page, {}, `${page}/certificates/add`);
        await add(owner);
        const remove = `${page}/certificates/remove`;
        const change = async (): Promise<void> => {
          await other.fill(remove, {});
          await add(other);
        };
        return { page: remove, change };
      },
    },
    {
      what: 'removing a domain',
      open: async ({ login }) => {
        const domain = `${randomUUID()}.example`;
        const id = await allowDomain(service, login, domain);
        return {
          page: `/dashboard/allowed-domains/${id}/remove`,
          change: () =>
            service.database.query('UPDATE allowlisted_domain SET proved_at = now() WHERE id = $1', [id]),
        };
      },
    },
    userAction('disable'),
    userAction('enable'),
    userAction('remove'),
    userAction('unlink'),
    {
      what: 'deleting a webhook endpoint',
      open: async (owner, other) => {
        const page = await endpoint(owner);
        const url = `https://hooks.example.com/${randomUUID()}`;
        return { page: `${page}/delete`, change: () => other.fill(`${page}/edit`, { url }) };
      },
    },
    {
      what: 'pausing a webhook endpoint',
      open: async (owner, other) => {
        const page = await endpoint(owner);
        const url = `https://hooks.example.com/${randomUUID()}`;
        return { page, action: `${page}/status`, change: () => other.fill(`${page}/edit`, { url }) };
      },
      fields: { status: 'paused' },
    },
    {
      what: 'sending a test to a webhook endpoint',
      open: async (owner, other) => {
        const page = await endpoint(owner);
        const url = `https://hooks.example.com/${randomUUID()}`;
        return { page: `${page}/test`, change: () => other.fill(`${page}/edit`, { url }) };
      },
      fields: { event: 'CARD_UPDATED' },
    },
    {
      what: 'recovering the events of a webhook endpoint',
      open: async (owner, other) => {
        const page = await endpoint(owner);
        const url = `https://hooks.example.com/${randomUUID()}`;
        return { page: `${page}/recover`, change: () => other.fill(`${page}/edit`, { url }) };
      },
      fields: { since: new Date(Date.now() - HOUR).toISOString().slice(0, 16) },
    },
    {
      what: 'sending an event again from its log entry',
      open: async (owner, other) => {
        const page = await endpoint(owner);
        await owner.fill(`${page}/test`, { event: 'CARD_UPDATED' });
        const [entry] = await eventually('the attempt is in the log', async () => {
          const rows = await service.database.query<{ id: string; event: string }>(
            'SELECT id, webhook_event_id AS event FROM request_log WHERE webhook_endpoint_id = $1',
            [page.split('/').at(-1)],
          );
          return rows.length > 0 && rows;
        });
        const development = '/dashboard/development';
        return {
          page: `${development}/request-logs/${entry?.id}`,
          action: `${development}/events/${entry?.event}`,
          change: () => other.fill(`${page}/edit`, { url: 'https://other.example.com/' }),
        };
      },
      fields: { endpoint_id: 'of the page' },
    },
    {
      what: 'rotating a secret',
      open: async (owner, other) => {
        const page = `${await credentials(owner)}/rotate`;
        return { page, change: () => other.fill(page, { overlap_hours: '24' }) };
      },
      fields: { overlap_hours: '0' },
    },
    {
      what: 'activating a secret',
      open: async (owner, other) => {
        const page = await credentials(owner);
        await owner.fill(`${page}/rotate`, { overlap_hours: '24' });
        const change = () => other.fill(`${page}/rotate`, { overlap_hours: '0' });
        return { page: `${page}/activate`, change };
      },
    },
    {
      what: 'removing the audit stream',
      open: async ({ login: { organizationId } }) => {
        await service.database.query(
          `INSERT INTO audit_stream (organization_id, url, format, position, position_hash, due_at)
           VALUES ($1, 'https://logs.example.com/first', 'json', 0, '', now())`,
          [organizationId],
        );
        return {
          page: '/dashboard/audit-stream',
          action: '/dashboard/audit-stream/remove',
          change: () =>
            service.database.query(
              `UPDATE audit_stream SET url = 'https://logs.example.com/second' WHERE organization_id = $1`,
              [organizationId],
            ),
        };
      },
    },
  ])('is refused, and shows it: $what', async ({ open, fields = {} }) => {
    const { id } = await service.anotherOrganization();
    const owner = await visitorWithRole(service, 'owner', id);
    const other = await visitorWithRole(service, 'owner', id);
    const { page, action = page, change } = await open(owner, other);
    const opened = await owner.get(page);
    const seen = seenOn(opened.text);
    for (const value of Object.values(JSON.parse(seen) as object))
      if (action === page) expect(textOf(opened).replaceAll('&amp;', '&')).toContain(String(value));
    await change();
    const [, endpoint_id = ''] = /name="endpoint_id" value="([^"]*)"/.exec(opened.text) ?? [];
    const sent = { ...fields, ...(fields['endpoint_id'] && { endpoint_id }) };
    const refused = await owner.submit(action, { ...sent, seen });
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining('This was changed after you opened the form. Nothing was saved.'),
    ]);
    const accepted = await owner.submit(action, { ...sent, seen: seenOn(refused.text) });
    expect(accepted.status).toBeLessThan(400);
  });

  it('is refused also if the change is not complete yet', async () => {
    const { id } = await service.anotherOrganization();
    const owner = await visitorWithRole(service, 'owner', id);
    const page = `${await provider(owner)}/enable`;
    const seen = seenOn((await owner.get(page)).text);
    const connection = new pg.Client({ connectionString: service.database.url });
    await connection.connect();
    try {
      await connection.query('BEGIN');
      await connection.query(`UPDATE saml_configuration SET certificates = '{}' WHERE organization_id = $1`, [
        id,
      ]);
      const response = owner.submit(page, { seen });
      await eventually('the request waits for the change', async () => {
        const rows = await service.database.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return rows.length > 0;
      });
      await connection.query('COMMIT');
      expect((await response).text).toContain('This was changed after you opened the form.');
    } finally {
      await connection.end();
    }
    const rows = await service.database.query(
      'SELECT FROM saml_configuration WHERE organization_id = $1 AND enabled_at IS NOT NULL',
      [id],
    );
    expect(rows).toEqual([]);
  });
});

describe('The form that requires two-factor authentication', () => {
  const PATH = '/dashboard/organization/second-factor';
  const ownersOfOne = async () => {
    const { id } = await service.anotherOrganization();
    return [
      await visitorWithRole(service, 'owner', id),
      await visitorWithRole(service, 'owner', id),
    ] as const;
  };

  it('is refused if the setting was changed in the meantime, and shows it', async () => {
    const [owner, other] = await ownersOfOne();
    const seen = seenOn((await owner.get(PATH)).text);
    await other.fill(PATH, { required: 'yes', grace_period_days: '7' });
    const refused = await owner.submit(PATH, { seen, required: 'yes', grace_period_days: '0' });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('This was changed after you opened the form. Nothing was saved.');
    expect(refused.text).toMatch(/Two-factor authentication: required from [\d-]+ [\d:]+ UTC/);
    expect(refused.text).toContain('Make two-factor authentication optional?');
    const again = { seen: seenOn(refused.text), required: 'no' };
    expect((await owner.submit(PATH, again)).location).toMatch(/done=optional$/);
    await other.get(PATH);
    expect((await other.submit(PATH, again)).status).toBe(400);
  });

  it('is accepted only once if two owners send it at the same time', async () => {
    const owners = await ownersOfOne();
    const forms = await Promise.all(
      owners.map(async (owner) => ({ owner, seen: seenOn((await owner.get(PATH)).text) })),
    );
    const answers = await Promise.all(
      forms.map(({ owner, seen }) => owner.submit(PATH, { seen, required: 'yes', grace_period_days: '7' })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 400]);
  });
});

describe('A page of the dashboard that cannot be shown', () => {
  it('says what happened and where to go', async () => {
    const owner = await visitorWithRole(service);
    const { status, text } = await owner.get(`/dashboard/users/${randomUUID()}`);
    expect(status).toBe(404);
    for (const part of ['<h1>Not found</h1>', 'There is no user with this ID.', 'href="/dashboard"', '<nav'])
      expect(text).toContain(part);
  });

  it('leads to the overview, also from an unknown address', async () => {
    const { cookies } = await visitorWithRole(service);
    const response = await fetch(`${service.baseUrl}/dashboard/no-such-page`, {
      headers: { ...HTML, cookie: `session=${cookies.get('session') ?? ''}` },
    });
    expect(response.status).toBe(404);
    const text = await response.text();
    for (const part of ['<h1>Not found</h1>', 'href="/dashboard"', '<nav aria-label="Main">'])
      expect(text).toContain(part);
    const stranger = await fetch(`${service.baseUrl}/dashboard/no-such-page`, { headers: HTML });
    expect([stranger.status, await stranger.text()]).toEqual([
      404,
      expect.stringContaining('Page not found'),
    ]);
  });
});

describe('A page that belongs to a list', () => {
  it('leads back to the filters of the list that it was opened from, and never to another site', async () => {
    const visitor = await visitorWithRole(service);
    const list = '/dashboard/development/request-logs';
    const parentOf = async (referer: string): Promise<string | undefined> => {
      const { text } = await visitor.get(`${list}/columns/choose`, { referer });
      return /<p class="parent"><a href="([^"]*)"/.exec(text)?.[1];
    };
    const { baseUrl } = service;
    expect(await parentOf(`${baseUrl}${list}?type=webhook&done=x&event=A%22%3CB`)).toBe(
      `${list}?type=webhook&amp;event=A%22%3CB`,
    );
    for (const other of [
      '',
      'x',
      `${baseUrl}${list}`,
      `${baseUrl}${list}x?type=webhook`,
      `${baseUrl}/dashboard/production/request-logs?type=webhook`,
      `https://evil.example${list}?type=webhook`,
      `${baseUrl}@evil.example${list}?type=webhook`,
    ])
      expect([other, await parentOf(other)]).toEqual([other, list]);
  });
});

describe('The list of users', () => {
  it('shows temporary roles', async () => {
    const owner = await visitorWithRole(service);
    const viewer = await addUser(service);
    await service.database.query(`UPDATE dashboard_user SET role = 'viewer' WHERE id = $1`, [viewer.id]);
    await grantRole(service, owner.login, viewer);
    const { text } = await owner.get(`/dashboard/users?search=${encodeURIComponent(viewer.email)}`);
    expect(text).toContain('Viewer (temporarily Admin)');
  });
});

const LOG_BUSY = 'The request log is busy';

/** Takes turns of an organization in the request log until they are released. It accepts five: four wait. */
function holdTurns(organizationId: string, count: number): { readonly release: () => Promise<void> } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((release) => (resolve = release));
  const turns = service.app.get(OrganizationQueryQueue);
  const held = Array.from({ length: count }, () => turns.run(organizationId, () => promise));
  return {
    release: async () => {
      resolve();
      await Promise.all(held);
    },
  };
}

describe('The search', () => {
  const search = (visitor: Visitor, q: string) =>
    visitor.get(`/dashboard/development/search?${new URLSearchParams({ q })}`);

  it('finds pages, endpoints, users, events and the entries of a user, of the own organization only', async () => {
    const owner = await visitorWithRole(service);
    const name = randomUUID().slice(0, 8);
    const { body } = await service.request('/webhook-endpoints/create', {
      body: { environment: 'development', url: `https://${name}.example.com/hooks` },
      login: owner.login,
    });
    const found = await search(owner, name);
    expect(found.text).toContain(`href="/dashboard/development/webhook-endpoints/${String(body['id'])}"`);
    expect((await search(owner, 'audit')).text).toContain('href="/dashboard/audit-log"');
    expect((await search(owner, owner.login.email)).text).toContain('Dashboard user');
    await service.request(CREATE_SESSION.path, {
      body: { ...CREATE_SESSION.body, external_user_id: 'user-8' },
      as: service.development,
    });
    expect((await search(owner, 'user-')).text).toContain('external-users?external_user_id=user-8"');
    for (const nothing of ['USER-9999', 'user-8x', '%', randomUUID(), '999999999'])
      expect((await search(owner, nothing)).text).toContain('Nothing found');
    const events = await owner.get('/dashboard/development/events?external_user_id=user-8');
    expect(events.text).toContain('value="user-8"');

    const stranger = await visitorWithRole(service, 'owner', (await service.anotherOrganization()).id);
    expect((await search(stranger, name)).text).not.toContain(String(body['id']));
    expect((await search(stranger, owner.login.email)).text).not.toContain('Dashboard user');
    const viewer = await visitorWithRole(service, 'viewer');
    expect((await search(viewer, owner.login.email)).text).not.toContain('Dashboard user');
  });

  it('takes one turn in the request log at a time', async () => {
    const { id } = await service.anotherOrganization();
    const owner = await visitorWithRole(service, 'owner', id);
    const busy = holdTurns(id, 4);
    const run = import.meta.jest.spyOn(service.app.get(OrganizationQueryQueue), 'run');
    const pages = ['Grace-Hopper-1', randomUUID()].map((text) => search(owner, text));
    await eventually('a search waits for its turn', () => run.mock.calls.length > 0);
    await busy.release();
    for (const { status, text } of await Promise.all(pages))
      expect([status, text.includes('Nothing found'), text.includes(LOG_BUSY)]).toEqual([200, true, false]);
    // A word without a digit is no request ID.
    run.mockClear();
    await search(owner, 'grace-hopper');
    expect(run).toHaveBeenCalledTimes(1);
    run.mockRestore();
  });

  it('leaves out the request log while it is busy, and so does the page of a user', async () => {
    const { id } = await service.anotherOrganization();
    const owner = await visitorWithRole(service, 'owner', id);
    const busy = holdTurns(id, 5);
    try {
      const found = await search(owner, 'audit');
      expect([found.status, found.text]).toEqual([200, expect.stringContaining(LOG_BUSY)]);
      expect(found.text).toContain('href="/dashboard/audit-log"');
      const user = await owner.get('/dashboard/development/external-users?external_user_id=user-8');
      expect([user.status, user.text]).toEqual([200, expect.stringContaining(LOG_BUSY)]);
      expect(user.text).toContain('/external-users/erase?external_user_id=user-8"');
      expect(user.text.split('>Not known<')).toHaveLength(3);
    } finally {
      await busy.release();
    }
  });

  it('leads to everything about a user in two clicks', async () => {
    const user = 'user "2" & +Ä';
    const as = service.development;
    const { body: session } = await service.request(CREATE_SESSION.path, {
      body: { ...CREATE_SESSION.body, external_user_id: user },
      as,
    });
    const { body: created } = await service.request(CREATE_MCP_TOKEN.path, {
      body: { ...CREATE_MCP_TOKEN.body, external_user_id: user },
      as,
    });
    const token = String(created['token']);
    rememberSecret(token);
    const viewer = await visitorWithRole(service, 'viewer');
    const results = (await search(viewer, user)).text;
    const parameter = String(new URLSearchParams({ external_user_id: user }));
    const pathsIn = (html: string): string[] =>
      [...html.replace(/<nav.*<\/nav>/s, '').matchAll(/href="([^"?]+)\?external_user_id=([^"&]+)/g)]
        .filter(([, , value]) => `external_user_id=${value}` === parameter)
        .map(([, path = '']) => path.replace('/dashboard/development/', ''));
    const lists = ['request-logs', 'events', 'merchant-accounts', 'sign-in-links', 'agents'];
    expect(pathsIn(results)).toEqual(['external-users']);
    const { status, text } = await viewer.get(`/dashboard/development/external-users?${parameter}`);
    expect(status).toBe(200);
    expect(pathsIn(text)).toEqual(lists);
    expect(text).toContain(`session_id=${String(session['session'])}`);
    expect(text).toContain('Valid');
    expect(text).not.toContain(token);
    for (const path of lists)
      expect((await viewer.get(`/dashboard/development/${path}?${parameter}`)).status).toBe(200);

    // Nothing of it in the other environment, or for another organization.
    const stranger = await visitorWithRole(service, 'owner', (await service.anotherOrganization()).id);
    for (const [visitor, environment] of [
      [viewer, 'production'],
      [stranger, 'development'],
    ] as const) {
      const other = await visitor.get(`/dashboard/${environment}/external-users?${parameter}`);
      expect(other.status).toBe(200);
      expect(other.text).not.toContain(String(session['session']));
      expect(other.text).toContain('<dt>MCP tokens</dt><dd>0</dd>');
    }
    const tooLong = await viewer.get(
      `/dashboard/development/external-users?external_user_id=${'x'.repeat(257)}`,
    );
    expect(tooLong.status).toBe(400);
  });

  it('shows the latest sessions of a user with thousands', async () => {
    const viewer = await visitorWithRole(service, 'viewer');
    const sessions = await service.database.query<{ id: string; latest: boolean }>(
      `INSERT INTO session (id, client_id, type, external_user_id, created_at, expires_at)
       SELECT gen_random_uuid(), $1, 'link', 'busy', now() - interval '1 second' * (3000 - number), now() + interval '1 day'
         FROM generate_series(1, 3000) number
       RETURNING id, created_at > now() - interval '9.5 seconds' AS latest`,
      [service.development.clientId],
    );
    const { text } = await viewer.get('/dashboard/development/external-users?external_user_id=busy');
    const latest = sessions.filter((session) => session.latest).map(({ id }) => id);
    expect([...text.matchAll(/session_id=([0-9a-f-]{36})/g)].map(([, id]) => id)).toEqual(
      latest.toReversed(),
    );
  });

  it('finds at most ten users, in any case, and takes no character as a wildcard', async () => {
    const owner = await visitorWithRole(service);
    for (let added = 0; added < 11; added++) await addInvited(service);
    const countOf = async (q: string): Promise<number> =>
      (await search(owner, q)).text.split('>Dashboard user<').length - 1;
    expect(await countOf('ADA')).toBe(10);
    expect(await countOf(owner.login.email.toUpperCase())).toBe(1);
    expect([await countOf('%'), await countOf('a_a')]).toEqual([0, 0]);
  });

  it('finds an event by its ID, in its environment', async () => {
    const owner = await visitorWithRole(service);
    const client = { clientId: service.development.clientId, environment: 'development' } as const;
    const id = await service.app.get(WebhookPublisher).publish(client, {
      event: 'MERCHANT_STATUS_UPDATE',
      merchant: { id: 16, name: 'Netflix' },
      data: { status: 'UNDER_MAINTENANCE' },
    } as unknown as AnyEvent);
    expect((await search(owner, id)).text).toContain(`href="/dashboard/development/events/${id}"`);
    const elsewhere = await owner.get(`/dashboard/production/search?q=${id}`);
    expect(elsewhere.text).not.toContain(`/events/${id}`);
    expect((await search(owner, randomUUID())).status).toBe(200);
    expect((await search(owner, 'x'.repeat(5_000))).status).toBe(200);
  });
});
