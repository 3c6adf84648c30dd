import { RouteTable } from '../../../src/infrastructure/http/index.js';
import {
  addSamlConfiguration,
  allowDomain,
  grantRole,
  registerAgent,
  renewLogins,
  submitForm,
} from '../../support/pages/dashboard-forms.js';
import { useTestApp } from '../../support/test-app.js';
import { seenOn, Visitor, visitorWithRole, type PageResponse } from '../../support/pages/visitor.js';

interface FoundForm {
  readonly action: string;
  readonly isFilter: boolean;
  /** The values that the form has when its page is opened. */
  readonly values: Record<string, string>;
  /** The fields that users fill in. */
  readonly fields: readonly string[];
}

const VALUES = {
  'too long': 'x'.repeat(10_000),
  malformed: '<\u0001 %',
  'a number out of range': '-1',
  'a time without a date': '12:00',
  // Last, because some forms accept it.
  empty: '',
};

/** Some of the forms that the test must find. */
const FORMS = [
  '/account/password',
  '/dashboard/access-grants/new',
  '/dashboard/development/agents/settings',
  '/dashboard/development/request-logs',
  '/dashboard/development/webhook-endpoints/:id/edit',
  '/dashboard/single-sign-on/configurations/new-openid',
  '/dashboard/users/:id/change',
];

const service = useTestApp();
let owner: Visitor;
let forms: readonly FoundForm[];
/** The addresses that forms of the pages are sent to. */
let addresses: readonly string[];
/** The paths of all pages. */
const known = new Set<string>();

beforeAll(async () => {
  const visitor = await visitorWithRole(service);
  owner = visitor;
  const { login } = visitor;
  const url = 'https://hooks.example.com/a';
  await submitForm(service, login, '/dashboard/development/webhook-endpoints/new', { url });
  const invited = { email: 'grace@example.com', name: 'Grace', role: 'viewer' };
  await submitForm(service, login, '/dashboard/users/invitations/new', invited);
  await allowDomain(service, login, 'example.com');
  await addSamlConfiguration(service, login);
  await registerAgent(service, login, 'Agent');
  await grantRole(service, login, (await visitorWithRole(service, 'viewer')).login);
  const key = { name: 'Key', 'scopes[]': 'merchants:read' };
  await submitForm(service, login, '/dashboard/development/api-credentials/keys/new', key);
  const found = await formsOf(visitor);
  addresses = found.filter(({ isFilter }) => !isFilter).map(({ action }) => action);
  forms = found.filter(({ fields }) => fields.length > 0);
});

/** Finds the forms of all pages that links lead to. Pages that differ only in an ID count as one. */
async function formsOf(visitor: Visitor): Promise<FoundForm[]> {
  const found = new Map<string, FoundForm>();
  const kinds = new Set<string>();
  const waiting = ['/dashboard/development', '/account'];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const { text } = await visitor.get(path);
    for (const form of formsIn(text)) found.set(kindOf(form.action) + form.isFilter, form);
    for (const [, link = ''] of text.matchAll(/href="([^"#?]+)[^"]*"/g)) {
      if (!/^\/(dashboard|account)/.test(link) || /\/(export|production)\b/.test(link)) continue;
      if (kinds.has(kindOf(link))) continue;
      kinds.add(kindOf(link));
      known.add(link);
      waiting.push(link);
    }
  }
  return [...found.values()];
}

const kindOf = (path: string): string => path.replaceAll(/\/([\da-f-]{36}|\d+)(?=\/|$)/g, '/:id');

function formsIn(html: string): FoundForm[] {
  return [...html.matchAll(/<form ([^>]*)>(.*?)<\/form>/gs)].map(([, head = '', body = '']) => {
    const controls = [...body.matchAll(/<(input|textarea|select) ([^>]*)>/g)].map(([, , text = '']) => ({
      name: attribute(text, 'name') ?? '',
      type: attribute(text, 'type'),
      value: attribute(text, 'value') ?? '',
    }));
    return {
      action: attribute(head, 'action') ?? '',
      isFilter: attribute(head, 'method') !== 'post',
      values: Object.fromEntries(controls.map(({ name, value }) => [name, value])),
      fields: controls.filter(({ type }) => type !== 'hidden' && type !== 'file').map(({ name }) => name),
    };
  });
}

const attribute = (text: string, name: string): string | undefined =>
  new RegExp(`(?:^|\\s)${name}="([^"]*)"`)
    .exec(text)?.[1]
    ?.replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');

function messagesIn({ text }: PageResponse): string[] {
  const shown = text.matchAll(/class="(?:notice bad|error)"[^>]*>(.*?)<\/(?:div|span)>/gs);
  return [...shown].map(([, message = '']) => message.replaceAll(/<[^>]+>/g, ''));
}

/** The fields that have an error, and the one that has the focus: the first of those with `autofocus` (HTML, "autofocus"). */
function errorsIn({ text }: PageResponse): { at: string[]; focus: string | undefined } {
  const controls = [...text.matchAll(/<(?:input|textarea|select) ([^>]*)>/g)].map(([, head = '']) => head);
  const inField = [...text.matchAll(/<span id="([^"]+)-error" class="error">/g)].map(([, name = '']) => name);
  const focused = controls.find((head) => /\sautofocus(?:[\s=]|$)/.test(head));
  return { at: inField, focus: focused && attribute(focused, 'name') };
}

/** The messages at the top of the page, without the one about two-factor authentication. */
const noticesIn = ({ text }: PageResponse): string[] =>
  [...text.matchAll(/class="notice bad"[^>]*>(.*?)<\/div>/gs)]
    .map(([, message = '']) => message)
    .filter((message) => !message.includes('two-factor'));

/** A message that no field of its form could correct. */
const ABOUT_NO_FIELD =
  /^(?:This was changed after you opened the form|Your browser did not send a passkey|The list has no filters now|The host name could not be resolved)/;

/** Forms that no page has in the state of this test, by why. */
const OTHER_FORMS: Readonly<Record<string, readonly string[]>> = {
  'They have only a button, in a state that other tests reach.': [
    '/dashboard/development/agents/connections/:id/disconnect',
    '/dashboard/development/api-credentials/:client_id/activate',
    '/dashboard/audit-stream/remove',
    '/dashboard/audit-stream/skip',
    '/account/sessions/end',
    '/dashboard/users/:id/invitation',
    '/dashboard/users/:id/enable',
    '/dashboard/users/:id/unlink',
    '/dashboard/development/merchants/:id/hide',
    '/dashboard/development/merchants/:id/activate',
    '/dashboard/devices',
    '/dashboard/development/sign-in-links/:id/cancel',
    '/dashboard/single-sign-on/:id/test',
    '/dashboard/single-sign-on/:id/enable',
    '/dashboard/single-sign-on/:id/disable',
    '/dashboard/single-sign-on/:id/certificates/remove',
    '/dashboard/development/webhook-endpoints/:id/key',
    '/dashboard/development/webhook-endpoints/:id/activate-key',
  ],
  'Their fields are checkboxes of a list, or hidden.': [
    '/dashboard/saved-filters/delete',
    '/dashboard/development/merchants/hide',
    '/dashboard/development/events/failed/send-again',
    '/dashboard/development/events/:event_id',
    '/dashboard/development/external-users/erase',
  ],
  'They belong to a passkey, a second factor, a key of a workload or a login of an agent: account-browser and others.':
    [
      '/account/passkeys/options',
      '/account/passkeys/:id/rename',
      '/account/passkeys/:id/remove',
      '/account/second-factor/enable',
      '/account/second-factor/disable',
      '/account/second-factor/recovery-codes',
      '/dashboard/development/api-credentials/keys/:id/try',
      '/dashboard/development/api-credentials/keys/:id/workload',
      '/dashboard/development/agents/log-in',
    ],
};

/** The names of fields in requests: in snake case, or as messages of the API write them. Scopes contain a colon. Items have numbers. */
const FIELD_NAME =
  /\b[a-z]+_[a-z_]+\b(?!:)|\b[Tt]he (?:selected )?[a-z ]+ (?:fields?|format|is invalid)\b|\[\d+\]/;

describe('The forms of the dashboard', () => {
  it('are all found here, so that a new form is tested', () => {
    const others = Object.values(OTHER_FORMS).flat();
    const missing = service.app
      .get(RouteTable)
      .served.filter(({ method, path }) => method === 'POST' && /^\/(?:dashboard|account)\//.test(path))
      .filter(({ path }) => !path.startsWith('/dashboard/production'))
      .filter(({ pattern }) => !addresses.some((address) => pattern.test(address)))
      .map(({ path }) => path)
      .filter((path) => !others.includes(path));
    expect(missing).toEqual([]);
  });
});

describe('The messages of the forms of the dashboard', () => {
  it('call fields what the page calls them', async () => {
    const findings: string[] = [];
    let count = 0;
    let errors = 0;
    for (const { action, isFilter, values, fields } of forms) {
      await renewLogins(service);
      for (const field of fields) {
        for (const [what, value] of Object.entries(VALUES)) {
          const sent = { ...values, [field]: value };
          delete sent['form_token'];
          delete sent['page_token'];
          const response = isFilter
            ? await owner.get(`${action}?${new URLSearchParams(sent)}`)
            : await owner.submit(action, sent);
          expect([action, field, what, response.status < 500]).toEqual([action, field, what, true]);
          // The values that the form shows have changed.
          if (response.status === 303 && 'seen' in values)
            values['seen'] = seenOn((await owner.get(action)).text);
          if (!isFilter) {
            const { at, focus } = errorsIn(response);
            const banner = noticesIn(response).find((notice) => !ABOUT_NO_FIELD.test(notice));
            if (response.status !== 429 && at.length === 0 && banner !== undefined)
              findings.push(`${action}, ${field} ${what}, not at the field: ${banner}`);
            if (at.length > 0 && at[0] !== focus)
              findings.push(`${action}, ${field} ${what}: focus on ${focus}`);
            errors += at.length;
          }
          for (const message of messagesIn(response)) {
            count += 1;
            if (FIELD_NAME.test(message)) findings.push(`${action}, ${field} ${what}: ${message}`);
          }
        }
      }
    }
    expect(findings).toEqual([]);
    expect(forms.map(({ action }) => kindOf(action))).toEqual(expect.arrayContaining(FORMS));
    expect(count).toBeGreaterThan(100);
    expect(errors).toBeGreaterThan(50);
  });

  const HOOKS = '/dashboard/development/webhook-endpoints';
  const AGENTS = '/dashboard/development/agents';
  const SSO = '/dashboard/single-sign-on';
  it.each<[path: string, fields: Record<string, string>, field: string]>([
    [
      '/dashboard/users/invitations/new',
      { email: 'grace@example.com', name: 'Grace', role: 'viewer' },
      'email',
    ],
    [
      '/dashboard/users/invitations/new',
      { email: 'a@elsewhere.example', name: 'A', role: 'viewer' },
      'email',
    ],
    [
      '/dashboard/access-grants/new',
      { email: 'a@b.example', role: 'admin', reason: 'x', expires_in: '3600' },
      'email',
    ],
    [
      '/dashboard/access-grants/new',
      { email: 'OWN', role: 'admin', reason: 'x', expires_in: '3600' },
      'email',
    ],
    [
      '/dashboard/access-grants/new',
      { email: 'SECOND', role: 'admin', reason: 'x', expires_in: '3600' },
      'role',
    ],
    ['/dashboard/allowed-domains/new', { domain: 'example.com' }, 'domain'],
    [`${HOOKS}/new`, { url: 'https://hooks.example.com/a', status: 'enabled' }, 'url'],
    [`${HOOKS}/new`, { url: 'https://127.0.0.1/a', status: 'enabled' }, 'url'],
    ['/dashboard/audit-stream', { url: 'https://10.0.0.1/', format: 'json' }, 'url'],
    [
      '/dashboard/audit-stream',
      { url: 'https://a.example/', format: 'json', authorization: 'é' },
      'authorization',
    ],
    ['/dashboard/single-sign-on', { required: 'yes' }, 'required'],
    [`${SSO}/configurations/new`, { name: 'Okta' }, 'metadata_url'],
    [`${SSO}/configurations/new`, { name: 'Okta', metadata_url: 'https://10.0.0.1/' }, 'metadata_url'],
    [`${SSO}/configurations/new`, { name: 'Okta', metadata_xml: '<a/>' }, 'metadata_xml'],
    [
      `${SSO}/configurations/new`,
      { name: 'O', metadata_xml: '<a/>', metadata_url: 'https://a.example' },
      'metadata_xml',
    ],
    [
      `${SSO}/configurations/new-openid`,
      { name: 'Okta', issuer: 'https://10.0.0.1', client_id: 'a' },
      'issuer',
    ],
    [
      `/dashboard/development/agents/register`,
      { name: 'Agent', redirect_uris: 'http://agent.example.com/' },
      'redirect_uris',
    ],
    [`${AGENTS}/settings`, { allowed_agents: 'any', login_url: 'ftp://a.example' }, 'login_url'],
    [`${AGENTS}/settings`, { allowed_agents: 'hosts', allowed_hosts: 'a.example\n/' }, 'allowed_hosts'],
  ])('are at the field that the service refuses, which has the focus: %s %j', async (path, fields, field) => {
    const { email } = (owner as Visitor & { login: { email: string } }).login;
    const second = await visitorWithRole(service, 'admin');
    await renewLogins(service);
    const addresses: Record<string, string> = { OWN: email, SECOND: second.login.email };
    const response = await owner.fill(path, {
      ...fields,
      ...(fields['email'] && { email: addresses[fields['email']] ?? fields['email'] }),
    });
    expect([response.status >= 400, errorsIn(response)]).toEqual([true, { at: [field], focus: field }]);
    expect(response.text).toContain(`aria-describedby="${field}-`.replace(/-$/, ''));
    expect(noticesIn(response)).toEqual([]);
  });

  const KEYS = '/dashboard/development/api-credentials/keys';
  const KEY = { name: 'Orders', 'scopes[]': 'merchants:read' };
  const WORKLOAD = { ...KEY, issuer: 'https://issuer.example.com', subject: 'a' };
  const ENDPOINT = { url: 'https://hooks.example.com/b', status: 'enabled' };
  it.each<[path: string, fields: Record<string, string>, field: string, message: string]>([
    [
      `${KEYS}/new`,
      { ...KEY, ip_ranges: '203.0.113.7\noffice' },
      'ip_ranges',
      '“office” is neither an IP address nor a range, such as 203.0.113.0/24.',
    ],
    [
      `${KEYS}/new`,
      { ...KEY, 'scopes[]': 'everything' },
      'scopes[]',
      'The selected “everything” is invalid.',
    ],
    [
      `${KEYS}/workload`,
      { ...WORKLOAD, claims: 'a=b, c\nproduction here' },
      'claims',
      '“production here” must be the name',
    ],
    [
      `${AGENTS}/settings`,
      { allowed_agents: 'hosts', allowed_hosts: 'claude.ai, Cursor.com' },
      'allowed_hosts',
      '“Cursor.com” is neither a host name in lower case',
    ],
    [
      `${AGENTS}/settings`,
      { allowed_agents: 'any', return_hosts: `a.example\n${'x'.repeat(300)}` },
      'return_hosts',
      `“${'x'.repeat(48)}…xxxxxxxx” is not a host name`,
    ],
    [
      `${AGENTS}/register`,
      { name: 'Agent', redirect_uris: 'https://agent.example.com/\nhttp://agent.example.com/' },
      'redirect_uris',
      '“http://agent.example.com/” cannot be used.',
    ],
    [`${HOOKS}/new`, { ...ENDPOINT, 'events[]': 'PAID' }, 'events[]', 'The selected “PAID” is invalid.'],
    [
      `${HOOKS}/new`,
      { ...ENDPOINT, header_lines: 'X-Tenant: 7\nno header' },
      'header_lines',
      'Line 2 of the “Your own headers” field must be',
    ],
  ])('name the item of a list that is refused: %s %j', async (path, fields, field, message) => {
    await renewLogins(service);
    const response = await owner.fill(path, fields);
    expect([response.status, errorsIn(response).at]).toEqual([400, [field]]);
    expect(messagesIn(response).at(-1)).toContain(message);
  });

  it.each<[path: string, fields: Record<string, string>, link: RegExp]>([
    [
      '/dashboard/users/invitations/new',
      { email: 'grace@example.com', name: 'G', role: 'viewer' },
      /^\/dashboard\/users\/[\w-]{36}$/,
    ],
    ['/dashboard/allowed-domains/new', { domain: 'example.com' }, /^\/dashboard\/allowed-domains$/],
    [
      `${HOOKS}/new`,
      { url: 'https://hooks.example.com/a', status: 'enabled' },
      /\/webhook-endpoints\/[\w-]{36}$/,
    ],
  ])('link at their field to what is in the way: %s %j', async (path, fields, link) => {
    await renewLogins(service);
    const { text } = await owner.fill(path, fields);
    const [, href = ''] = /<span id="[^"]+-error" class="error">[^<]+<a href="([^"]+)">/.exec(text) ?? [];
    expect(href).toMatch(link);
    expect((await owner.get(href)).status).toBe(200);
  });

  it('are at the top of the page if they are about no single field', async () => {
    const change = '/dashboard/single-sign-on';
    await renewLogins(service);
    const response = await owner.fill(change, { required: 'no', seen: '{}' });
    expect(errorsIn(response).at).toEqual([]);
    expect(noticesIn(response)).toEqual([expect.stringContaining('This was changed')]);
  });
});

describe('The fields of forms', () => {
  it('get no password of the user from browsers, unless they are for it', async () => {
    const pages = ['/account/password', '/dashboard/audit-stream'];
    const more = [];
    for (const path of [...pages, ...known]) more.push((await owner.get(path)).text);
    more.push((await new Visitor(service).get('/login?with=password')).text);
    const kinds = more.flatMap((text) =>
      [...text.matchAll(/<input ([^>]*type="password"[^>]*)>/g)].map(
        ([, head = '']) => `${attribute(head, 'name')}: ${attribute(head, 'autocomplete')}`,
      ),
    );
    expect([...new Set(kinds)].toSorted()).toEqual([
      'authorization: new-password',
      'client_secret: new-password',
      'current_password: current-password',
      'new_password: new-password',
      'password: current-password',
    ]);
  });
});
