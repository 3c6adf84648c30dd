/**
 * Logs in through Keycloak with one configuration after the other, and prints a Markdown table. Exits with 1 if an outcome is not
 * the expected one. Needs Java 17 and the distribution of Keycloak: KEYCLOAK_HOME names its folder. Without it, Maven downloads it.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { TEST_AUTHORITY } from '../../support/webhooks/receiver-certificates.ts';
import { startService } from '../service.mjs';
import { Browser, formOf, startKeycloak } from './keycloak.mjs';

const VERSION = '26.4.0';
const DOMAIN = 'keycloak.example';
const PATH = '/dashboard/single-sign-on';

const keycloak = await startKeycloak(process.env.KEYCLOAK_HOME ?? downloaded());
const service = await startService({ WEBHOOK_TARGETS: 'any', WEBHOOK_EXTRA_CA: TEST_AUTHORITY });
const { app, url, organization } = service;
const database = app.get(DataSource);
const rows = [];
/** How many logins each rollover had. */
const rollovers = [];
/** Whether Keycloak asked for the password in the last login. */
let asked;
try {
  const admin = new Browser();
  await logInWithPassword(admin, organization.owner);
  await proveDomain();
  await keycloak.addGroup('ops');
  await save(admin, '/dashboard/single-sign-on', {
    creates_users: 'yes',
    role_attribute: 'groups',
    admin_values: 'ops',
  });
  await openid(admin);
  await saml(admin);
  const fails = rows.filter(({ isAsExpected }) => !isAsExpected);
  console.log(`Keycloak ${keycloak.version}, started after ${keycloak.startedAfter} s\n`);
  console.log('| protocol | configuration | expected | outcome |\n| --- | --- | --- | --- |');
  for (const { protocol, name, expected, outcome, isAsExpected } of rows)
    console.log(`| ${protocol} | ${name} | ${expected} | ${isAsExpected ? '✓' : '✗'} ${outcome} |`);
  console.log(`\nLogins during the rollovers: ${rollovers.join(', ')}.`);
  console.log(`${rows.length - fails.length} of ${rows.length} are as expected.`);
  process.exitCode = fails.length === 0 ? 0 : 1;
} finally {
  await service.close();
  await keycloak.close();
}

/** OpenID Connect: one configuration after the other is enabled. */
async function openid(admin) {
  const secret = randomBytes(24).toString('hex');
  const configure = async (name, { attributes, wrong = false, isPublic = false } = {}) => {
    const clientId = `openid-${randomUUID()}`;
    const id = await add(admin, 'new-openid', {
      name,
      issuer: keycloak.issuer,
      client_id: clientId,
      ...(!isPublic && { client_secret: wrong ? 'another secret' : secret }),
    });
    await keycloak.addOpenidClient({
      clientId,
      ...(!isPublic && { secret }),
      redirectUri: `${url}/sso/oidc/${id}`,
      attributes,
    });
    await enable(id);
    return id;
  };
  const row = (name, expected, work) => record('OpenID Connect', name, expected, work);

  await configure('confidential');
  await row('confidential client', 'login', () => logIn(newEmail()));
  await row('a group becomes the role', 'login as admin', () => logIn(newEmail(), { groups: ['ops'] }));
  await row('a login that must be fresh', 'login, asked again', freshLogin);
  await row('the address changes, the person stays', 'login', async () => {
    const email = newEmail();
    const id = await keycloak.addUser({ email });
    await logIn(email, 'exists');
    const users = await countUsers();
    await keycloak.changeUser(id, { email: newEmail() });
    const outcome = await logIn(email, 'exists');
    return (await countUsers()) === users ? outcome : 'another user';
  });
  await row('an address that is not verified', 'did not send a verified email address', () =>
    logIn(newEmail(), { emailVerified: false }),
  );
  await row('a disabled person', 'refused by Keycloak', () => logIn(newEmail(), { isDisabled: true }));
  const PKCE = { 'pkce.code.challenge.method': 'S256' };
  await configure('PKCE', { attributes: PKCE });
  await row('confidential client that must use PKCE', 'login', () => logIn(newEmail()));
  await configure('public', { attributes: PKCE, isPublic: true });
  await row('public client that must use PKCE', 'login', () => logIn(newEmail()));
  const next = await keycloak.addSigningKey(-2);
  await configure('rollover');
  await row('rollover: the key changes during logins', 'login', () =>
    logInDuring(() => keycloak.setPriority(next, 500)),
  );
  await keycloak.setPriority(next, -2);
  await configure('wrong secret', { wrong: true });
  await row('wrong client secret', 'refused the code', () => logIn(newEmail()));
}

async function saml(admin) {
  const configure = async (attributes) => {
    const id = await add(admin, 'new', { name: 'SAML', metadata_url: keycloak.samlMetadataUrl });
    const { text } = await admin.request(`${url}/sso/saml/${id}/metadata`);
    await keycloak.addSamlClient(text, attributes);
    await enable(id);
    return id;
  };
  const SIGNED = {
    'saml.assertion.signature': 'true',
    'saml.server.signature': 'false',
    'saml.encrypt': 'false',
  };
  const row = (name, expected, work = () => logIn(newEmail())) => record('SAML', name, expected, work);

  const id = await configure({ ...SIGNED, saml_name_id_format: 'persistent' });
  await row('signed assertion', 'login');
  await row('a group becomes the role', 'login as admin', () => logIn(newEmail(), { groups: ['ops'] }));
  await row('a login that must be fresh', 'login, asked again', freshLogin);
  await row('a disabled person', 'refused by Keycloak', () => logIn(newEmail(), { isDisabled: true }));
  await row(
    'another key before its certificate is known',
    'a certificate that is not in the metadata',
    async () => {
      const key = await keycloak.addSigningKey(1_000);
      const outcome = await logIn(newEmail());
      await keycloak.setPriority(key, -1);
      return outcome;
    },
  );
  const next = await keycloak.addSigningKey(-2);
  await save(admin, `${PATH}/${id}/change`, { name: 'SAML', metadata_url: keycloak.samlMetadataUrl });
  await row('rollover: two certificates, the old key', 'login');
  await row('rollover: the key changes during logins', 'login', () =>
    logInDuring(() => keycloak.setPriority(next, 2_000)),
  );
  await row('rollover: two certificates, the new key', 'login');

  await configure({ ...SIGNED, 'saml.server.signature': 'true' });
  await row('signed response and assertion', 'login');
  await configure({ ...SIGNED, 'saml.encrypt': 'true' });
  await row('encrypted assertion', 'login');
  await configure({ ...SIGNED, 'saml.server.signature': 'true', 'saml.encrypt': 'true' });
  await row('signed response, encrypted assertion', 'login');
  await configure({ ...SIGNED, 'saml.assertion.signature': 'false', 'saml.server.signature': 'true' });
  await row('signed response, unsigned assertion', 'The assertion is not signed.');
  await configure({ ...SIGNED, 'saml.signature.algorithm': 'RSA_SHA1' });
  await row('SHA-1', 'an algorithm that is not allowed');
  await configure({ ...SIGNED, saml_name_id_format: 'transient', saml_force_name_id_format: 'true' });
  await row('transient NameID', 'The NameID is transient');
  await configure({ ...SIGNED, saml_name_id_format: 'email', saml_force_name_id_format: 'true' });
  await row('NameID with the address', 'login');
  await configure({ ...SIGNED, 'saml.signature.algorithm': 'RSA_SHA512' });
  await row('SHA-512', 'login');
}

/** Logs in a new person. @returns the outcome in words */
async function logIn(email, person = {}, more = {}, atKeycloak = new Browser()) {
  if (person !== 'exists') {
    const { isDisabled, groups, emailVerified } = person;
    const id = await keycloak.addUser({ email, groups, emailVerified });
    if (isDisabled) await keycloak.changeUser(id, { enabled: false });
  }
  const browser = new Browser();
  const { fields } = formOf((await browser.request(`${url}/login`)).text);
  const begun = await browser.request(`${url}/login`, { ...fields, ...more, step: 'address', email });
  const [, target] = /^0; url=(.*)$/.exec(begun.headers.get('refresh') ?? '') ?? [];
  if (target === undefined) return 'no identity provider';
  const answer = await keycloak.visit(target, email, atKeycloak);
  asked = answer.wasAsked;
  if (answer.problem !== undefined) return `refused by Keycloak: ${answer.problem}`;
  let response = answer.fields
    ? // A form of another site, with which browsers send no cookies.
      await new Browser().request(answer.location, answer.fields)
    : await browser.request(answer.location);
  if (response.location?.includes('/sso/saml/')) response = await browser.request(response.location);
  if (response.status !== 303)
    return /role="alert">([^<]+)/.exec(response.text)?.[1] ?? `status ${response.status}`;
  const [user] = await database.query('SELECT role FROM dashboard_user WHERE email = $1', [email]);
  return user?.role === 'viewer' ? 'login' : `login as ${user?.role}`;
}

/** Logs in one person after the other, three at a time, before, during and after the change. @returns the worst outcome in words */
async function logInDuring(change) {
  const outcomes = [];
  let isOver = false;
  const logins = async () => {
    for (let after = 0; after < 2; after += isOver ? 1 : 0) outcomes.push(await logIn(newEmail()));
  };
  const all = Promise.all([logins(), logins(), logins()]);
  while (outcomes.length < 6) await pause(10);
  await change();
  isOver = true;
  await all;
  rollovers.push(outcomes.length);
  return outcomes.find((outcome) => outcome !== 'login') ?? 'login';
}

/** Logs in twice in a browser that is logged in at Keycloak: Keycloak asks for the password only if the login must be fresh. */
async function freshLogin() {
  const [email, atKeycloak] = [newEmail(), new Browser()];
  await logIn(email, {}, {}, atKeycloak);
  await logIn(email, 'exists', {}, atKeycloak);
  if (asked) return 'asked for the password although the person was logged in';
  const outcome = await logIn(email, 'exists', { again: 'page' }, atKeycloak);
  return asked ? `${outcome}, asked again` : `${outcome}, not asked again`;
}

async function countUsers() {
  const [{ count }] = await database.query('SELECT count(*)::int FROM dashboard_user');
  return count;
}

async function record(protocol, name, expected, work) {
  const outcome = await work().catch((error) => `error: ${error.message}`);
  const isAsExpected = expected.startsWith('login') ? outcome === expected : outcome.includes(expected);
  rows.push({ protocol, name, expected, outcome, isAsExpected });
}

async function add(admin, page, fields) {
  const { location, text } = await submit(admin, `${PATH}/configurations/${page}`, fields);
  const [, id] = /single-sign-on\/([\w-]{36})/.exec(location ?? '') ?? [];
  if (id === undefined) throw new Error(/role="alert">([^<]+)/.exec(text)?.[1] ?? text);
  return id;
}

/** One at a time. The test login is in the tests of the service. */
async function enable(id) {
  await database.query('UPDATE saml_configuration SET enabled_at = NULL');
  await database.query('UPDATE saml_configuration SET enabled_at = now(), tested_at = now() WHERE id = $1', [
    id,
  ]);
}

async function submit(browser, path, fields) {
  const { fields: hidden } = formOf((await browser.request(url + path)).text.split('<main')[1]);
  return browser.request(url + path, { form_token: hidden.form_token, ...fields });
}

async function save(browser, path, fields) {
  const { status, text } = await submit(browser, path, fields);
  if (status !== 303) throw new Error(/role="alert">([^<]+)/.exec(text)?.[1] ?? text);
}

async function logInWithPassword(browser, { email, password }) {
  const { fields } = formOf((await browser.request(`${url}/login?with=password`)).text);
  await browser.request(`${url}/login`, { ...fields, email, password });
}

async function proveDomain() {
  await database.query(
    `INSERT INTO allowlisted_domain (id, organization_id, domain, created_at, proved_at, proof_checked_at)
     VALUES (gen_random_uuid(), $1, $2, now(), now(), now())`,
    [organization.id, DOMAIN],
  );
}

function newEmail() {
  return `${randomBytes(6).toString('hex')}@${DOMAIN}`;
}

/** Downloads the distribution with Maven. */
function downloaded() {
  const folder = resolve('.artefacts/keycloak');
  const home = join(folder, `keycloak-${VERSION}`);
  if (existsSync(home)) return home;
  mkdirSync(folder, { recursive: true });
  const artifact = `-Dartifact=org.keycloak:keycloak-quarkus-dist:${VERSION}:zip`;
  execFileSync('mvn', ['-q', '-B', 'dependency:copy', artifact, `-DoutputDirectory=${folder}`], {
    stdio: 'inherit',
  });
  execFileSync('unzip', ['-q', `keycloak-quarkus-dist-${VERSION}.zip`], { cwd: folder, stdio: 'inherit' });
  return home;
}
