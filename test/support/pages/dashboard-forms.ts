import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { samlMetadata } from '../logins/saml.js';
import type { Login, TestApp } from '../test-app.js';
import { Visitor } from './visitor.js';

/** Where a form of the dashboard led. */
export interface FormResponse {
  /** 303 if the form was accepted, mostly. */
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly location: string | null;
  /** Why the form was not accepted, as the page says it. */
  readonly problem: string | undefined;
  /** The ID in the address that the form led to. */
  readonly id: string;
}

const visitors = new WeakMap<Login, Promise<Visitor>>();

/** Sends a form of the dashboard as a user who is logged in. */
export async function submitForm(
  service: TestApp,
  login: Login,
  path: string,
  fields: Readonly<Record<string, string>> = {},
  headers: Record<string, string> = {},
): Promise<FormResponse> {
  const visitor = visitors.get(login) ?? visitorFor(service, login);
  visitors.set(login, visitor);
  const { location, text, ...response } = await (await visitor).submit(path, fields, headers);
  return { ...response, location, text, problem: problemIn(text), id: idIn(location ?? '') };
}

/** Makes all logins recent, whatever time the tests before took. */
export async function renewLogins({ database }: TestApp): Promise<void> {
  await database.query('UPDATE dashboard_session SET authenticated_at = now()');
}

/** Sends a form with files, as a user who is logged in. */
export async function submitFile(
  service: TestApp,
  login: Login,
  path: string,
  files: Readonly<Record<string, Buffer>>,
): Promise<Pick<FormResponse, 'status' | 'location' | 'problem'>> {
  const visitor = loggedIn(service, login);
  const { text: page } = await visitor.get('/account');
  const body = new FormData();
  body.set('form_token', /name="form_token" value="([\w-]+)"/.exec(page)?.[1] ?? '');
  for (const [name, content] of Object.entries(files))
    body.set(name, new Blob([new Uint8Array(content)]), name);
  const cookie = [...visitor.cookies].map((pair) => pair.join('=')).join('; ');
  const url = service.baseUrl + path;
  const response = await fetch(url, { method: 'POST', body, headers: { cookie }, redirect: 'manual' });
  const { status, headers } = response;
  return { status, location: headers.get('location'), problem: problemIn(await response.text()) };
}

/** Opens a page of the dashboard as a user who is logged in. */
export function openPage(service: TestApp, login: Login, path: string): ReturnType<Visitor['get']> {
  return loggedIn(service, login).get(path);
}

/** Returns a browser with the login. */
export function loggedIn(service: TestApp, { cookie }: Login): Visitor {
  const visitor = new Visitor(service);
  visitor.cookies.set('session', cookie.slice('session='.length));
  return visitor;
}

/** Returns a browser with the login and the token of its forms. */
async function visitorFor(service: TestApp, login: Login): Promise<Visitor> {
  const visitor = loggedIn(service, login);
  await visitor.get('/account');
  return visitor;
}

function idIn(text: string): string {
  return /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(text)?.[0] ?? '';
}

function problemIn(text: string): string | undefined {
  const [, problem] = /<div class="notice bad" role="alert">(.*?)<\/div>/s.exec(text) ?? [];
  const [, ofField] = /<span id="[^"]+-error" class="error">(.*?)<\/span>/s.exec(text) ?? [];
  // The link to what is in the way is no part of the reason.
  return (ofField ?? problem)
    ?.replace(/ <a [^>]*>[^<]*<\/a>$/, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&');
}

async function newestId(service: TestApp, table: string): Promise<string> {
  const [row] = await service.database.query<{ id: string }>(
    `SELECT id FROM ${table} ORDER BY created_at DESC, id LIMIT 1`,
  );
  return row?.id ?? '';
}

/** @returns the ID of the domain */
export async function allowDomain(service: TestApp, login: Login, domain: string): Promise<string> {
  const { status } = await submitForm(service, login, '/dashboard/allowed-domains/new', { domain });
  expect(status).toBe(303);
  const [row] = await service.database.query<{ id: string }>(
    'SELECT id FROM allowlisted_domain WHERE organization_id = $1 AND domain = $2',
    [login.organizationId, domain],
  );
  return row?.id ?? '';
}

/** @returns the ID of the grant */
export async function grantRole(
  service: TestApp,
  login: Login,
  { email }: { readonly email: string },
  role: 'owner' | 'admin' = 'admin',
): Promise<string> {
  const fields = { email, role, reason: 'A test', expires_in: '3600' };
  const { status } = await submitForm(service, login, '/dashboard/access-grants/new', fields);
  expect(status).toBe(303);
  return newestId(service, 'access_grant');
}

/** @returns the ID of the configuration */
export async function addSamlConfiguration(service: TestApp, login: Login, name = 'Okta'): Promise<string> {
  const fields = { name, metadata_xml: samlMetadata() };
  const path = '/dashboard/single-sign-on/configurations/new';
  return (await submitForm(service, login, path, fields)).id;
}

/** Saves the settings of the development environment. Fields that are absent are emptied. */
export function saveAgentSettings(
  service: TestApp,
  login: Login,
  fields: Readonly<Record<string, string>>,
): Promise<FormResponse> {
  return submitForm(service, login, '/dashboard/development/agents/settings', fields);
}

/** Registers an agent for the users of the development environment. @returns its ID */
export async function registerAgent(
  service: TestApp,
  login: Login,
  name: string,
  redirectUri = 'https://agent.example.com/callback',
): Promise<string> {
  const fields = { name, redirect_uris: redirectUri };
  const { status } = await submitForm(service, login, '/dashboard/development/agents/register', fields);
  expect(status).toBe(303);
  return newestId(service, `registered_agent WHERE kind = 'registered'`);
}

/** The tables that operations and forms of the dashboard can change. */
const TABLES = [
  'organization',
  'dashboard_user',
  'dashboard_session',
  'access_grant',
  'agent_connection',
  'agent_setting',
  'allowlisted_domain',
  'saml_configuration',
  'merchant_visibility',
  'api_client',
  'api_secret',
  'registered_agent',
  'sign_in_link',
  'webhook_endpoint',
  'webhook_delivery',
  'webhook_recovery',
  'audit_log',
];

/** Returns a hash of each of these tables, apart from when credentials were used, and the number of emails. */
export async function everything({ database, dataDirectory }: TestApp): Promise<Record<string, unknown>> {
  const hashes = TABLES.map(
    (table) =>
      `(SELECT md5(coalesce(string_agg(row, '|' ORDER BY row), ''))
          FROM (SELECT (to_jsonb(t) - '{last_used_at,last_used_ip}'::text[])::text AS row FROM ${table} t) rows) AS ${table}`,
  );
  const [state] = await database.query(`SELECT ${hashes.join(', ')}`);
  const mails = join(dataDirectory, 'mail');
  return { ...state, mails: existsSync(mails) ? readdirSync(mails).length : 0 };
}
