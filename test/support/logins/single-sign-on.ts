import { randomBytes } from 'node:crypto';
import { allowDomain } from '../pages/dashboard-forms.js';
import { addUser, type TestUser } from '../pages/dashboard-users.js';
import type { DnsServer } from '../http/dns-server.js';
import { rememberSecret } from '../runner/run-directory.js';
import { newKeys, type TestApp } from '../test-app.js';
import { BEHIND_PROXY, visitorWithRole, type PageResponse, type Visitor } from '../pages/visitor.js';

export const SSO_PATH = '/dashboard/single-sign-on';
export const DOMAINS_PATH = '/dashboard/allowed-domains';

/** Settings of processes that share a database, and find the records of domains and the identity providers of the tests. */
export const ssoSettings = ({ address }: DnsServer): Record<string, string> => ({
  ...BEHIND_PROXY,
  WEBHOOK_TARGETS: 'any',
  DOMAIN_PROOF_DNS_SERVERS: address,
  DASHBOARD_URL: 'https://dashboard.example.com',
  ...newKeys(),
});

/** An application at an identity provider. */
export interface ProviderClient {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret?: string;
}

export const someDomain = (): string => `${randomBytes(6).toString('hex')}.example`;

/** Adds a domain to the allowlist. @returns its ID and the content of the record that proves it */
export async function addDomain(owner: Owner, domain: string): Promise<{ id: string; record: string }> {
  const { service, login } = owner;
  const id = await allowDomain(service, login, domain);
  return { id, record: `merchant-connectivity-verification=${id}` };
}

export const checkDomain = ({ visitor }: Owner, id: string): Promise<PageResponse> =>
  visitor.fill(`${DOMAINS_PATH}/${id}/proof`, {});

export interface Owner {
  readonly service: TestApp;
  readonly organizationId: string;
  readonly login: Awaited<ReturnType<typeof visitorWithRole>>['login'];
  readonly visitor: Visitor;
}

/** A new organization, and its owner in a browser. */
export async function newOwner(service: TestApp): Promise<Owner> {
  const { id: organizationId } = await service.anotherOrganization();
  const visitor = await visitorWithRole(service, 'owner', organizationId);
  await visitor.get('/account');
  return { service, organizationId, login: visitor.login, visitor };
}

/** Adds a domain and proves it. */
export async function proveDomain(owner: Owner, dns: DnsServer, domain = someDomain()): Promise<string> {
  const { id, record } = await addDomain(owner, domain);
  dns.set(`_merchant-connectivity.${domain}`, { txt: [record] });
  const { location } = await checkDomain(owner, id);
  if (location !== `${DOMAINS_PATH}?done=proved`) throw new Error(`${domain} was not proved`);
  return domain;
}

/** Adds an identity provider on the page. @returns the ID of the configuration */
export const addProvider = (
  owner: Owner,
  { issuer, clientId, clientSecret }: ProviderClient,
): Promise<string> =>
  addConfiguration(owner, 'new-openid', {
    issuer,
    client_id: clientId,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
  });

/** Adds an identity provider with SAML on the page. @returns the ID of the configuration */
export const addSamlProvider = (owner: Owner, fields: Record<string, string>): Promise<string> =>
  addConfiguration(owner, 'new', fields);

async function addConfiguration(
  { visitor }: Owner,
  page: string,
  fields: Record<string, string>,
): Promise<string> {
  const path = `${SSO_PATH}/configurations/${page}`;
  const { location, text } = await visitor.fill(path, { name: 'Example login', ...fields });
  const [, id] = /single-sign-on\/([\w-]{36})\?done=added$/.exec(location ?? '') ?? [];
  if (id === undefined) throw new Error(`The provider was not added: ${text}`);
  return id;
}

/** Returns where a page sends the browser. */
export function providerUrl({ headers, text }: PageResponse): string {
  const [, url] = /^0; url=(.*)$/.exec(headers.get('refresh') ?? '') ?? [];
  if (url === undefined) throw new Error(`The page leads to no provider: ${text}`);
  const { searchParams } = new URL(url);
  rememberSecret(searchParams.get('state') ?? '', searchParams.get('nonce') ?? '');
  return url;
}

/** Adds a user with a password, whose address is in the domain. */
export async function addUserAt(owner: Owner, domain: string, beginning = ''): Promise<TestUser> {
  const name = `${beginning}${randomBytes(6).toString('hex')}`;
  return addUser(owner.service, owner.organizationId, `${name}@${domain}`);
}
