import { addSamlConfiguration, allowDomain, submitForm } from '../support/dashboard-forms.js';
import { useTestApp } from '../support/test-app.js';
import { visitorWithRole, type PageResponse, type Visitor } from '../support/visitor.js';

interface FoundForm {
  readonly action: string;
  readonly isFilter: boolean;
  /** The values that the form has when its page is opened. */
  readonly values: Readonly<Record<string, string>>;
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
  forms = await formsOf(visitor);
});

/** Finds the forms of all pages that links lead to. Pages that differ only in an ID count as one. */
async function formsOf(visitor: Visitor): Promise<FoundForm[]> {
  const found = new Map<string, FoundForm>();
  const known = new Set<string>();
  const waiting = ['/dashboard/development', '/account'];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const { text } = await visitor.get(path);
    for (const form of formsIn(text)) found.set(kindOf(form.action) + form.isFilter, form);
    for (const [, link = ''] of text.matchAll(/href="([^"#?]+)[^"]*"/g)) {
      if (!/^\/(dashboard|account)/.test(link) || /\/(export|production)\b/.test(link)) continue;
      if (known.has(kindOf(link))) continue;
      known.add(kindOf(link));
      waiting.push(link);
    }
  }
  return [...found.values()].filter(({ fields }) => fields.length > 0);
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

/** The names of fields in requests: in snake case, or as messages of the API write them. */
const FIELD_NAME = /\b[a-z]+_[a-z_]+\b|\b[Tt]he (?:selected )?[a-z ]+ (?:fields?|format|is invalid)\b/;

describe('The messages of the forms of the dashboard', () => {
  it('call fields what the page calls them', async () => {
    const findings: string[] = [];
    let count = 0;
    for (const { action, isFilter, values, fields } of forms) {
      for (const field of fields) {
        for (const [what, value] of Object.entries(VALUES)) {
          const sent = { ...values, [field]: value };
          delete sent['form_token'];
          delete sent['page_token'];
          const response = isFilter
            ? await owner.get(`${action}?${new URLSearchParams(sent)}`)
            : await owner.submit(action, sent);
          expect([action, field, what, response.status < 500]).toEqual([action, field, what, true]);
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
  });
});
