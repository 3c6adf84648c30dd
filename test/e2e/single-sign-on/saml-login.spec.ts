import { sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Worker } from 'node:worker_threads';
import { TransactionHost } from '@nestjs-cls/transactional';
import { HOUR, MINUTE } from '../../../src/infrastructure/time/index.js';
import { DashboardUsersRepository } from '../../../src/modules/dashboard-users/index.js';
import { SamlCertificatesJob } from '../../../src/modules/single-sign-on/configurations/saml-certificates.job.js';
import { SamlWorker } from '../../../src/modules/single-sign-on/saml/saml-worker.js';
import { moveClock } from '../../support/clock.js';
import { auditOf, sessionsOf, type TestUser } from '../../support/pages/dashboard-users.js';
import { startDnsServer, type DnsServer } from '../../support/http/dns-server.js';
import { eventually } from '../../support/eventually.js';
import { countedAttempts, whileDiskIsFull } from '../../support/database/full-disk.js';
import {
  decode,
  encode,
  newSigner,
  samlRequestOf,
  SamlTestProvider,
  type SamlForgery,
  type SamlForm,
  type SamlSigner,
} from '../../support/logins/saml-provider.js';
import {
  addSamlProvider,
  addUserAt,
  newOwner,
  proveDomain,
  providerUrl,
  SSO_PATH,
  type Owner,
  ssoSettings,
} from '../../support/logins/single-sign-on.js';
import { countOf, startTestApp, type TestApp } from '../../support/test-app.js';
import { Visitor, visitorWithRole, type PageResponse, sessionIn } from '../../support/pages/visitor.js';

const MORE = 'http://www.w3.org/2001/04/xmldsig-more#';
const UNKNOWN =
  'The login is unknown, was used already, took more than 10 minutes, or began in another browser.';
const CHANGED_MEANWHILE = 'The identity provider was changed after the login began. Start again.';

let service: TestApp;
/** Another process with the same database. */
let other: TestApp;
let dns: DnsServer;
let provider: SamlTestProvider;

interface Organization extends Owner {
  readonly domain: string;
  /** The configuration, which is enabled. */
  readonly id: string;
  /** The metadata of the service for it. */
  readonly metadata: string;
}

let organization: Organization;

beforeAll(async () => {
  [dns, provider] = await Promise.all([startDnsServer(), SamlTestProvider.create()]);
  const settings = ssoSettings(dns);
  service = await startTestApp(settings);
  other = await startTestApp({ ...settings, DATABASE_URL: service.database.url });
  organization = await setUp(provider);
});
afterAll(async () => {
  await other?.close();
  await service?.close();
  await dns.close();
});

async function setUp(from: SamlTestProvider): Promise<Organization> {
  const owner = await newOwner(service);
  const domain = await proveDomain(owner, dns);
  const id = await addSamlProvider(owner, { metadata_xml: from.metadata() });
  await owner.visitor.fill(`${SSO_PATH}/${id}/enable`, {});
  return { ...owner, domain, id, metadata: (await owner.visitor.get(`/sso/saml/${id}/metadata`)).text };
}

const addUser = (): Promise<TestUser> => addUserAt(organization, organization.domain);
const accountOf = ({ id, email }: TestUser) => ({ nameId: `name-${id}`, email });

const begin = async (visitor: Visitor, email: string, more: Record<string, string> = {}): Promise<string> =>
  providerUrl(await visitor.fill('/login', { step: 'address', email, ...more }));

/** Begins a login. @returns the form with which the provider responds */
const respondTo = async (visitor: Visitor, user: TestUser): Promise<SamlForm> =>
  provider.respondTo(await begin(visitor, user.email), organization.metadata, accountOf(user));

/** A form of another site, with which browsers send no cookies. */
const post = (form: SamlForm, id = organization.id, visitor = new Visitor(service)): Promise<PageResponse> =>
  visitor.submit(`/sso/saml/${id}`, { ...form }, { cookie: '', 'sec-fetch-site': 'cross-site' });

/** Sends the form of the provider, as a browser does. */
async function deliver(visitor: Visitor, form: SamlForm, id = organization.id): Promise<PageResponse> {
  const received = await post(form, id);
  return received.location === null ? received : visitor.get(received.location);
}

type Options = Parameters<SamlTestProvider['respondTo']>[4];

/** Logs in as the provider says. */
async function logIn(
  user: TestUser,
  forgery: SamlForgery = {},
  change: (xml: string) => string = (xml) => xml,
  options: Options = {},
): Promise<{ visitor: Visitor; response: PageResponse }> {
  const visitor = new Visitor(service);
  const url = await begin(visitor, user.email);
  const form = await provider.respondTo(url, organization.metadata, accountOf(user), forgery, options);
  const changed = { ...form, SAMLResponse: encode(change(decode(form))) };
  return { visitor, response: await deliver(visitor, changed) };
}

async function countOfAttempts(): Promise<number> {
  const [row] = await service.database.query<{ count: number }>('SELECT count(*)::int FROM sso_attempt');
  return row?.count ?? 0;
}

async function expectRefused(
  { visitor, response }: { visitor: Visitor; response: PageResponse },
  reason: string,
): Promise<void> {
  expect([response.status, visitor.session]).toEqual([403, undefined]);
  expect(response.text).toContain(reason);
  const [last] = (await service.database.query(
    `SELECT email, problem FROM sso_attempt WHERE configuration_id = $1 AND finished_at IS NOT NULL
      ORDER BY finished_at DESC LIMIT 1`,
    [organization.id],
  )) as [{ problem: string }];
  expect(last.problem).toContain(reason);
}

/** Signs a response with ECDSA (RFC 6931, section 2.3.6), as a provider with such a certificate does. */
function signedWithCurve(xml: string, { privateKey, certificate }: SamlSigner, hash: string): string {
  const [info = ''] = /<ds:SignedInfo>.*?<\/ds:SignedInfo>/s.exec(xml) ?? [];
  const changed = info.replace(/(<ds:SignatureMethod Algorithm=")[^"]*/, `$1${MORE}ecdsa-${hash}`);
  // Its canonical form: without empty elements, and with the namespace.
  const canonical = changed
    .replaceAll(/<([\w:]+)([^<>]*)\/>/g, '<$1$2></$1>')
    .replace('<ds:SignedInfo>', '<ds:SignedInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#">');
  const value = sign(hash, Buffer.from(canonical), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return xml
    .replace(info, changed)
    .replace(/(<ds:SignatureValue>)[^<]*/, `$1${value.toString('base64')}`)
    .replace(/(<ds:X509Certificate>)[^<]*/, `$1${certificate}`);
}

const at = (offset: number): string => new Date(Date.now() + offset).toISOString();
const expiryOf = async (user: TestUser): Promise<number> => {
  const [row] = await service.database.query<{ expires_at: Date }>(
    'SELECT expires_at FROM dashboard_session WHERE user_id = $1',
    [user.id],
  );
  return row?.expires_at.getTime() ?? Number.NaN;
};

describe('The session of a login with SAML', () => {
  it('ends at the earliest SessionNotOnOrAfter, and after 12 hours without it or with a later one', async () => {
    for (const [sessionEnds, end] of [
      [[at(HOUR)], HOUR],
      [[at(3 * HOUR), at(2 * HOUR), at(13 * HOUR)], 2 * HOUR],
      [[at(13 * HOUR)], 12 * HOUR],
      [['9999-12-31T23:59:59Z'], 12 * HOUR],
      [[], 12 * HOUR],
    ] as const) {
      const user = await addUser();
      const { visitor } = await logIn(user, { sessionEnds });
      expect(Math.abs((await expiryOf(user)) - Date.now() - end)).toBeLessThan(MINUTE);
      using _clock = moveClock(service, end + MINUTE);
      expect((await visitor.get('/account')).status).toBe(303);
    }
  });

  it('keeps its end for the session after a second factor', async () => {
    const user = await addUser();
    await service.database.query(
      `UPDATE dashboard_user SET totp_enabled_at = now(), totp_secret_sealed = 'x' WHERE id = $1`,
      [user.id],
    );
    await logIn(user, { sessionEnds: [at(2 * HOUR)] });
    const [row] = await service.database.query<{ ends_by: Date; expires_at: Date }>(
      'SELECT ends_by, expires_at FROM dashboard_session WHERE user_id = $1',
      [user.id],
    );
    expect(Math.abs((row?.ends_by.getTime() ?? 0) - Date.now() - 2 * HOUR)).toBeLessThan(MINUTE);
    expect((row?.expires_at.getTime() ?? 0) - Date.now()).toBeLessThan(11 * MINUTE);
  });

  it.each([at(-MINUTE), 'tomorrow', ''])(
    'does not begin if it has ended, or its end is no time (%s)',
    async (end) => {
      const refused = await logIn(await addUser(), { sessionEnds: [at(HOUR), end] });
      await expectRefused(refused, 'The session at the identity provider has ended');
    },
  );
});

describe('A login with SAML', () => {
  it('logs in the user with the address in a proved domain, and links the account', async () => {
    const user = await addUser();
    const { visitor, response } = await logIn(user);
    expect([response.status, response.location]).toEqual([303, '/dashboard']);
    expect((await visitor.get('/account')).text).toContain(user.email);
    expect(await auditOf(service, user)).toEqual(['auth.provider_link success', 'auth.login success']);
    expect(
      await service.database.query('SELECT issuer, subject FROM sso_identity WHERE user_id = $1', [user.id]),
    ).toEqual([{ issuer: provider.entityId, subject: `name-${user.id}` }]);
  });

  it('of an owner needs the approval of an owner already when the response is checked', async () => {
    const own = await setUp(provider);
    const boss = await addUserAt(own, own.domain);
    await service.app.get(DashboardUsersRepository).change(boss.id, { role: 'owner' });
    const page = `${SSO_PATH}/${own.id}`;
    const enableAs = async (visitor: Visitor): Promise<void> => {
      await visitor.fill(`${page}/disable`, {});
      expect((await visitor.fill(`${page}/enable`, {})).location).toContain('done=enabled');
    };
    const receive = async (visitor: Visitor): Promise<string> => {
      const url = await begin(visitor, boss.email);
      const form = await provider.respondTo(url, own.metadata, accountOf(boss));
      return (await post(form, own.id)).location ?? '';
    };
    await enableAs(await visitorWithRole(service, 'admin', own.organizationId));
    const early = new Visitor(service);
    const path = await receive(early);
    await enableAs(own.visitor);
    const { status, text } = await early.get(path);
    expect([status, text]).toEqual([403, expect.stringContaining('an owner has enabled it')]);
    const late = new Visitor(service);
    expect((await late.get(await receive(late))).location).toBe('/dashboard');
    const disabled = new Visitor(service);
    const next = await receive(disabled);
    await own.visitor.fill(`${page}/disable`, {});
    expect((await disabled.get(next)).status).toBe(403);
  });

  it('takes its turn in the thread that checks responses as part of its organization', async () => {
    const user = await addUser();
    const [{ organizationId } = {}] = await service.database.query<{ organizationId: string }>(
      'SELECT organization_id AS "organizationId" FROM dashboard_user WHERE lower(email) = lower($1)',
      [user.email],
    );
    const run = import.meta.jest.spyOn(service.app.get(SamlWorker), 'run');
    await logIn(user);
    expect(run.mock.calls.length).toBeGreaterThan(1);
    expect(new Set(run.mock.calls.map(([key]) => key))).toEqual(new Set([organizationId]));
    run.mockRestore();
  });

  it('is possible after the thread that checks responses has ended', async () => {
    const user = await addUser();
    await logIn(user);
    await (Reflect.get(service.app.get(SamlWorker), 'thread') as Worker).terminate();
    expect((await logIn(user)).response.location).toBe('/dashboard');
  });

  it('leaves no listeners on the thread that checks responses', async () => {
    const user = await addUser();
    await logIn(user);
    const thread = Reflect.get(service.app.get(SamlWorker), 'thread') as Worker;
    const listeners = () => ['exit', 'message', 'error'].map((event) => thread.listenerCount(event));
    const before = listeners();
    await logIn(user);
    expect(listeners()).toEqual(before);
  });

  it('stores nothing that the provider sent, and no page that was opened, after the login, except the address and the link', async () => {
    const user = await addUser();
    await logIn(user);
    await logIn(user, {}, () => '<forged/>');
    const attempts = await service.database.query(
      'SELECT DISTINCT octet_length(secrets_sealed) AS size, next FROM sso_attempt WHERE finished_at IS NOT NULL',
    );
    expect(attempts).toEqual([{ size: 0, next: '' }]);
  });

  it.each([
    ['an encrypted assertion', { encrypts: true }],
    ['a signed response', { signsMessage: true }],
    ['a signed response with an encrypted assertion', { encrypts: true, signsMessage: true }],
  ])('accepts %s', async (_what, options) => {
    expect((await logIn(await addUser(), {}, undefined, options)).response.location).toBe('/dashboard');
  });

  it('sends a signed request with a different ID each time, and asks for a new login only where required', async () => {
    const user = await addUser();
    const visitor = new Visitor(service);
    const [first, second] = [await begin(visitor, user.email), await begin(visitor, user.email)];
    const fresh = await begin(visitor, user.email, { again: 'page' });
    expect(new URL(first).searchParams.get('SigAlg')).toMatch(/rsa-sha256$/);
    expect(samlRequestOf(first)).toMatchObject({
      forceAuthn: false,
      issuer: `https://dashboard.example.com/sso/saml/${organization.id}/metadata`,
    });
    expect(samlRequestOf(first).id).not.toBe(samlRequestOf(second).id);
    expect(samlRequestOf(fresh).forceAuthn).toBe(true);
  });

  it('refuses a login that the provider did not repeat, although it was required', async () => {
    const user = await addUser();
    const again = async (age: number): Promise<PageResponse> => {
      const visitor = new Visitor(service);
      const url = await begin(visitor, user.email, { again: 'page' });
      const authenticatedAt = new Date(Date.now() - age);
      const form = await provider.respondTo(url, organization.metadata, accountOf(user), { authenticatedAt });
      return deliver(visitor, form);
    };
    expect((await again(0)).status).toBe(303);
    expect((await again(3 * MINUTE)).text).toContain('did not ask the person to log in again');
  });

  it('finds the user by issuer and NameID after the address has changed', async () => {
    const user = await addUser();
    await logIn(user);
    const visitor = new Visitor(service);
    const url = await begin(visitor, user.email);
    const account = { nameId: `name-${user.id}`, email: 'changed@elsewhere.example' };
    const form = await provider.respondTo(url, organization.metadata, account);
    expect((await deliver(visitor, form)).status).toBe(303);
    expect((await visitor.get('/account')).text).toContain(user.email);
  });

  it('accepts both certificates of a provider during a rollover', async () => {
    const [old, next] = [provider.signers[0], await newSigner()];
    if (!old) throw new Error('The provider has no certificate.');
    provider.signers = [old, next];
    const change = (metadata_xml: string) =>
      organization.visitor.fill(`${SSO_PATH}/${organization.id}/change`, {
        name: 'Rolled over',
        metadata_xml,
      });
    expect((await change(provider.metadata())).location).toContain('done=changed');
    for (const signer of [old, next])
      expect((await logIn(await addUser(), {}, undefined, { signer })).response.status).toBe(303);
    provider.signers = [next];
    await change(provider.metadata());
    const user = await addUser();
    await expectRefused(
      await logIn(user, {}, undefined, { signer: old }),
      'The response was signed with a certificate that is not in the metadata.',
    );
    expect((await logIn(user)).response.status).toBe(303);
  });
});

describe('A response of a SAML provider', () => {
  it('is accepted once by two processes that get it from one browser at the same time', async () => {
    const user = await addUser();
    const visitor = new Visitor(service);
    const form = await respondTo(visitor, user);
    const received = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        post(form, organization.id, new Visitor(index % 2 === 0 ? service : other)),
      ),
    );
    expect(countOf(received, 303)).toBe(20);
    const [location, ...others] = new Set(received.map((response) => response.location as string));
    expect(others).toEqual([]);
    const finished = await Promise.all(
      Array.from({ length: 20 }, (_, index) => {
        const copy = new Visitor(index % 2 === 0 ? service : other, visitor.ip);
        for (const [name, value] of visitor.cookies) copy.cookies.set(name, value);
        return copy.get(location as string);
      }),
    );
    expect(countOf(finished, 303)).toBe(20);
    expect(new Set(finished.map(({ headers }) => sessionIn(headers))).size).toBe(1);
    expect(await sessionsOf(service, user)).toBe(1);
  });

  it('is not accepted again, and leads no other browser to a login', async () => {
    const user = await addUser();
    const visitor = new Visitor(service);
    const form = await respondTo(visitor, user);
    expect((await deliver(visitor, form)).status).toBe(303);
    const repeated = await post(form);
    expect((await new Visitor(service).get(repeated.location ?? '')).text).toContain(UNKNOWN);
    await service.database.query('DELETE FROM submitted_form');
    const { status, text } = await post(form);
    expect([status, text]).toEqual([403, expect.stringContaining(UNKNOWN)]);
  });

  it.each(['sso_attempt', 'dashboard_session'])(
    'is not refused because the service has no room for rows of %s, and accepted afterwards',
    async (table) => {
      const [user, visitor] = [await addUser(), new Visitor(service)];
      const form = await respondTo(visitor, user);
      const failed = async () =>
        (
          await service.database.query<{ count: number }>(
            'SELECT count(*)::int FROM sso_attempt WHERE problem IS NOT NULL',
          )
        )[0]?.count;
      const before = [await failed(), await countedAttempts(service)];
      await whileDiskIsFull(service, [table], async () =>
        expect((await deliver(visitor, form)).status).toBe(503),
      );
      expect([await failed(), await countedAttempts(service)]).toEqual(before);
      expect((await deliver(visitor, form)).location).toBe('/dashboard');
    },
  );

  it('logs in only the browser in which the login began', async () => {
    const user = await addUser();
    const visitor = new Visitor(service);
    const form = await respondTo(visitor, user);
    const victim = new Visitor(service);
    await victim.get('/login');
    const response = await deliver(victim, form);
    expect([response.status, victim.session]).toEqual([403, undefined]);
    expect(response.text).toContain(UNKNOWN);
  });

  it('is refused if the configuration was changed after its response was checked', async () => {
    const [user, visitor] = [await addUser(), new Visitor(service)];
    const { location } = await post(await respondTo(visitor, user));
    await service.database.query('UPDATE saml_configuration SET revision = revision + 1 WHERE id = $1', [
      organization.id,
    ]);
    await expectRefused({ visitor, response: await visitor.get(location ?? '') }, CHANGED_MEANWHILE);
    expect((await logIn(user)).response.location).toBe('/dashboard');
  });

  it('is refused if a certificate that it was checked with is gone from the metadata meanwhile', async () => {
    const signers = [provider.signers[0] as SamlSigner, await newSigner(), await newSigner()];
    const [removed, kept, added] = signers as [SamlSigner, SamlSigner, SamlSigner];
    const from = await SamlTestProvider.create();
    from.signers = [removed, kept];
    let fetched = from.metadata();
    const server = createServer((_request, response) => response.end(fetched)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const outer = [provider, organization] as const;
    try {
      provider = from;
      organization = await setUp(from);
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metadata`;
      const checked = `UPDATE saml_configuration SET metadata_url = $2, metadata_checked_at = now() - interval '2 days' WHERE id = $1`;
      const refresh = async (...now: readonly SamlSigner[]): Promise<void> => {
        from.signers = now;
        fetched = from.metadata();
        await service.database.query(checked, [organization.id, url]);
        await service.app.get(SamlCertificatesJob).run();
        from.signers = [removed, kept];
      };
      const finishAfter = async (work: () => Promise<void>) => {
        const [user, visitor] = [await addUser(), new Visitor(service)];
        const { location } = await post(await respondTo(visitor, user));
        await work();
        return { visitor, response: await visitor.get(location ?? '') };
      };
      expect((await finishAfter(() => refresh(removed, kept, added))).response.location).toBe('/dashboard');
      await expectRefused(await finishAfter(() => refresh(kept, added)), CHANGED_MEANWHILE);
    } finally {
      [provider, organization] = outer;
      server.close();
    }
  });

  it('is refused if the configuration is changed while the login waits for another one', async () => {
    const [user, visitor] = [await addUser(), new Visitor(service)];
    const { location } = await post(await respondTo(visitor, user));
    const { finishing } = await service.app.get(TransactionHost).withTransaction(async () => {
      await service.app.get(DashboardUsersRepository).lockUsersOf(organization.organizationId);
      const started = visitor.get(location ?? '');
      await eventually('the login waits', async () => {
        const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
        return (await service.database.query(waiting)).length > 0;
      });
      await service.database.query('UPDATE saml_configuration SET revision = revision + 1 WHERE id = $1', [
        organization.id,
      ]);
      return { finishing: started };
    });
    await expectRefused({ visitor, response: await finishing }, CHANGED_MEANWHILE);
  });

  it('starts a login of its own if the service did not ask for it', async () => {
    const user = await addUser();
    const visitor = new Visitor(service);
    const asked = await begin(new Visitor(service), user.email);
    const form = await provider.respondTo(asked, organization.metadata, accountOf(user));
    const { location } = await post({ ...form, RelayState: '' });
    expect(location).toBe(`/sso/saml/${organization.id}/login`);
    expect((await visitor.get(location ?? '')).text).toContain('Continue to log in at the identity provider');
    const url = providerUrl(await visitor.submit(location ?? ''));
    const own = await provider.respondTo(url, organization.metadata, accountOf(user));
    expect((await deliver(visitor, own)).location).toBe('/dashboard');
  });

  it('asks to continue at a provider whose name cannot change how its host is shown', async () => {
    const name = 'UPDATE saml_configuration SET name = $2 WHERE id = $1';
    const [{ name: before } = {}] = await service.database.query<{ name: string }>(
      'SELECT name FROM saml_configuration WHERE id = $1',
      [organization.id],
    );
    await service.database.query(name, [organization.id, 'Okta \u202e']);
    const { text } = await new Visitor(service).get(`/sso/saml/${organization.id}/login`);
    await service.database.query(name, [organization.id, before]);
    expect(text).toContain('at the identity provider \u2068Okta &lt;U+202E>\u2069 (');
  });

  it('replaces no login of another page: the user has to continue, and sees who is logged in', async () => {
    const user = await addUser();
    const { visitor } = await logIn(user);
    const path = `/sso/saml/${organization.id}/login`;
    const before = await countOfAttempts();
    expect((await visitor.get(path)).text).toContain(`You are logged in as ${user.email}.`);
    const { status } = await visitor.submit(path, { form_token: 'x'.repeat(43) });
    expect([status, await countOfAttempts()]).toEqual([403, before]);
  });

  it('is refused after 30 refused responses for a configuration from one IP address in an hour', async () => {
    const [user, attacker] = [await addUser(), new Visitor(service)];
    const another = await setUp(await SamlTestProvider.create());
    const refuse = async (to: Organization = organization, email = user.email): Promise<PageResponse> => {
      const RelayState = new URL(await begin(attacker, email)).searchParams.get('RelayState') ?? '';
      return post({ RelayState, SAMLResponse: 'AAAA' }, to.id, attacker);
    };
    const refused: PageResponse[] = [];
    for (let attempt = 0; attempt < 31; attempt += 1) refused.push(await refuse());
    expect([countOf(refused, 403), countOf(refused, 429)]).toEqual([30, 1]);
    // Others are not affected, nor is another configuration, nor a test of an admin.
    expect((await logIn(user)).response.location).toBe('/dashboard');
    expect((await refuse(another, `somebody@${another.domain}`)).status).toBe(403);
    const admin = organization.visitor;
    await admin.get(`${SSO_PATH}/${organization.id}`);
    const url = providerUrl(await admin.submit(`${SSO_PATH}/${organization.id}/test`));
    const form = await provider.respondTo(url, organization.metadata, accountOf(user));
    expect((await post(form, organization.id, attacker)).status).toBe(303);
    // The repaired configuration is counted from the beginning.
    const signers = provider.signers;
    provider.signers = [...signers, await newSigner()];
    const metadata_xml = provider.metadata();
    provider.signers = signers;
    await admin.fill(`${SSO_PATH}/${organization.id}/change`, { name: 'Repaired', metadata_xml });
    expect((await refuse()).status).toBe(403);
  });

  it('finds the user if the NameID is an address that is spelled in another case', async () => {
    const user = await addUser();
    const format = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
    const expectLogin = async (nameId: string): Promise<void> => {
      const visitor = new Visitor(service);
      const account = { nameId, email: user.email };
      const url = await begin(visitor, user.email);
      const form = await provider.respondTo(url, organization.metadata, account, { format });
      expect((await deliver(visitor, form)).status).toBe(303);
    };
    await expectLogin(user.email);
    await expectLogin(user.email.toUpperCase());
    // An earlier release stored the address as the provider spelled it.
    const stored = 'UPDATE sso_identity SET subject = upper(subject) WHERE user_id = $1';
    await service.database.query(stored, [user.id]);
    await expectLogin(user.email);
  });

  it('does not find a user whose NameID has the letter k in place of a Kelvin sign', async () => {
    const user = await addUserAt(organization, organization.domain, 'k');
    const format = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
    const log = async (nameId: string, email: string): Promise<PageResponse> => {
      const visitor = new Visitor(service);
      const url = await begin(visitor, user.email);
      const account = { nameId, email };
      return deliver(visitor, await provider.respondTo(url, organization.metadata, account, { format }));
    };
    expect((await log(user.email, user.email)).status).toBe(303);
    const { status, text } = await log(`\u212a${user.email.slice(1)}`, `other@${organization.domain}`);
    expect([status, text]).toEqual([403, expect.stringContaining('email address that is not valid')]);
  });

  const CLAIMS = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims';
  it.each<[string, string, Record<string, string>]>([
    ['Okta', '1.1:nameid-format:unspecified', { email: 'email', groups: 'Everyone' }],
    [
      'Microsoft Entra ID',
      '2.0:nameid-format:persistent',
      { [`${CLAIMS}/emailaddress`]: 'email', [`${CLAIMS}/givenname`]: 'Ada' },
    ],
    ['Google', '1.1:nameid-format:emailAddress', { email: 'email' }],
    ['Keycloak', '2.0:nameid-format:persistent', { 'urn:oid:1.2.840.113549.1.9.1': 'email' }],
    [
      'Auth0',
      '1.1:nameid-format:unspecified',
      { [`${CLAIMS}/emailaddress`]: 'email', 'http://schemas.auth0.com/email_verified': 'true' },
    ],
    ['Ping', '2.0:nameid-format:persistent', { mail: 'email', memberOf: 'cn=all' }],
    ['AD FS', '1.1:nameid-format:unspecified', { [`${CLAIMS}/upn`]: 'email', 'user.email': 'email' }],
    [
      'AD FS 2.0',
      '1.1:nameid-format:unspecified',
      { 'http://schemas.xmlsoap.org/claims/EmailAddress': 'email' },
    ],
    ['Shibboleth', '2.0:nameid-format:persistent', { 'urn:mace:dir:attribute-def:mail': 'email' }],
    ['Google, with its own names', '1.1:nameid-format:unspecified', { primaryEmail: 'email' }],
    ['CyberArk', '1.1:nameid-format:unspecified', { user_email: 'email' }],
    ['Google, without attributes', '1.1:nameid-format:unspecified', { department: 'Shoes' }],
  ])('logs in what %s sends, and knows that the login is recent', async (_provider, format, sent) => {
    const user = await addUser();
    const attributes = Object.fromEntries(
      Object.entries(sent).map(([name, value]) => [name, value === 'email' ? user.email : value]),
    );
    const forgery = { format: `urn:oasis:names:tc:SAML:${format}`, attributes };
    const visitor = new Visitor(service);
    const url = await begin(visitor, user.email);
    const isAddress = format.endsWith('emailAddress') || !Object.values(sent).includes('email');
    const nameId = isAddress ? user.email : `name|${user.id}`;
    const form = await provider.respondTo(url, organization.metadata, { nameId }, forgery);
    expect((await deliver(visitor, form)).location).toBe('/dashboard');
    expect(await visitor.hasRecentLogin()).toBe(true);
  });

  it('may have 400 groups, as Okta sends them', async () => {
    const user = await addUser();
    const schema = 'http://www.w3.org/2001/XMLSchema';
    const value = (group: number): string =>
      `<saml:AttributeValue xmlns:xs="${schema}" xmlns:xsi="${schema}-instance" xsi:type="xs:string">Group ${group}` +
      '</saml:AttributeValue>';
    const groups = Array.from({ length: 400 }, (_, group) => value(group)).join('\n');
    const inside = groups.slice(groups.indexOf('>') + 1, groups.lastIndexOf('</'));
    const { response } = await logIn(user, { attributes: { groups: inside } });
    expect(response.location).toBe('/dashboard');
  });

  it('may have a value with as many lines as Java ends with references', async () => {
    const user = await addUser();
    const lines = 'QUJD&#13;\n'.repeat(3_300);
    expect((await logIn(user, { attributes: { photo: lines } })).response.location).toBe('/dashboard');
  });

  it('belongs to one configuration', async () => {
    const another = await setUp(await SamlTestProvider.create());
    const user = await addUser();
    const visitor = new Visitor(service);
    const form = await respondTo(visitor, user);
    const mixedUp = await post(form, another.id);
    expect([mixedUp.status, mixedUp.text]).toEqual([403, expect.stringContaining(UNKNOWN)]);
    expect((await deliver(visitor, form)).status).toBe(303);
  });

  it('does not log in a user of another organization that has not proved the domain', async () => {
    const hostile = await setUp(await SamlTestProvider.create());
    const victim = await addUser();
    const [visitor, own] = [new Visitor(service), await addUserAt(hostile, hostile.domain)];
    const attacker = await SamlTestProvider.create();
    const metadata_xml = attacker.metadata();
    await hostile.visitor.fill(`${SSO_PATH}/${hostile.id}/change`, { name: 'Hostile', metadata_xml });
    const url = await begin(visitor, own.email);
    const response = await deliver(
      visitor,
      await attacker.respondTo(url, hostile.metadata, accountOf(victim)),
      hostile.id,
    );
    expect(response.status).toBe(403);
    expect(response.text).toContain('not a domain that your organization has proved');
  });

  const PERSISTENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format';
  it.each<[string, SamlForgery, string]>([
    [
      'another audience',
      { audience: 'https://elsewhere.example' },
      'The assertion is meant for another service',
    ],
    ['another recipient', { recipient: 'https://elsewhere.example' }, 'the Recipient differs'],
    ['another destination', { destination: 'https://elsewhere.example' }, 'the Destination differs'],
    ['another issuer', { issuer: 'https://elsewhere.example' }, 'the Issuer differs from the entityID'],
    ['the ID of another request', { inResponseTo: '_other' }, 'InResponseTo differs'],
    ['a clock that is behind', { clock: -8 * MINUTE }, 'The assertion has expired'],
    ['a clock that is ahead', { clock: 3 * MINUTE }, 'The assertion is not valid yet'],
    ['a transient NameID', { format: `${PERSISTENT}:transient` }, 'The NameID is transient'],
    ['no time of the login', { withoutAuthnStatement: true }, 'does not say when the person logged in'],
    ['a failed login', { status: 'AuthnFailed' }, 'The identity provider refused the login (AuthnFailed).'],
    [
      'SHA-1',
      { algorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' },
      'an algorithm that is not allowed',
    ],
  ])('is refused with %s', async (_what, forgery, reason) => {
    await expectRefused(await logIn(await addUser(), forgery), reason);
  });

  it('is refused with the reason of the provider, which is inside the status', async () => {
    const refused = (xml: string): string =>
      xml.replace(
        /<samlp:StatusCode Value="([^"]*)Success"\/>/,
        '<samlp:StatusCode Value="$1Responder"><samlp:StatusCode Value="$1AuthnFailed"/></samlp:StatusCode>',
      );
    await expectRefused(
      await logIn(await addUser(), {}, refused),
      'The identity provider refused the login (AuthnFailed).',
    );
  });

  // Releases before 0.4.0 let owners add such providers.
  it.each([
    ['P-256', 'sha256'],
    ['P-384', 'sha384'],
    ['P-256', 'sha512'],
  ] as const)(
    'is refused with a certificate on %s and %s, whose provider cannot be added',
    async (curve, hash) => {
      const signer = await newSigner(undefined, curve);
      const own = await setUp(provider);
      const user = await addUserAt(own, own.domain);
      await service.database.query('UPDATE saml_configuration SET certificates = $1 WHERE id = $2', [
        [signer.certificate],
        own.id,
      ]);
      const visitor = new Visitor(service);
      const form = await provider.respondTo(await begin(visitor, user.email), own.metadata, accountOf(user));
      const SAMLResponse = encode(signedWithCurve(decode(form), signer, hash));
      const { status, text } = await deliver(visitor, { ...form, SAMLResponse }, own.id);
      expect([status, text]).toEqual([403, expect.stringContaining(`not allowed (ecdsa-${hash}). Use RSA`)]);

      const page = `${SSO_PATH}/${own.id}`;
      await own.visitor.fill(`${page}/disable`, {});
      expect((await own.visitor.fill(`${page}/enable`, {})).text).toContain(
        'cannot verify signatures with elliptic',
      );
      const elliptic = await SamlTestProvider.create();
      elliptic.signers = [signer];
      await expect(addSamlProvider(own, { metadata_xml: elliptic.metadata() })).rejects.toThrow(
        'cannot verify signatures with elliptic curves',
      );
      // A provider that changes its certificate may list both.
      elliptic.signers = [signer, await newSigner()];
      expect(await addSamlProvider(own, { metadata_xml: elliptic.metadata() })).toBeTruthy();
    },
  );

  it.each([
    ['no Destination', (xml: string) => xml.replace(/ Destination="[^"]*"/, '')],
    [
      'spaces around the Destination',
      (xml: string) => xml.replace(/ Destination="([^"]*)"/, ' Destination=" $1 "'),
    ],
  ])('is accepted with %s', async (_what, change) => {
    expect((await logIn(await addUser(), {}, change)).response.status).toBe(303);
  });

  it('is accepted with a space before the Recipient', async () => {
    const recipient = ` https://dashboard.example.com/sso/saml/${organization.id}`;
    expect((await logIn(await addUser(), { recipient })).response.status).toBe(303);
  });

  it.each([
    ['behind', { clock: -MINUTE }],
    ['ahead', { clock: MINUTE }],
  ])('is accepted if the clock of the provider is a minute %s', async (_what, forgery) => {
    expect((await logIn(await addUser(), forgery)).response.status).toBe(303);
  });
});

/** Parts of a response with one signed assertion. */
function partsOf(xml: string) {
  const [assertion = ''] = /<saml:Assertion[\s>].*<\/saml:Assertion>/s.exec(xml) ?? [];
  const [signature = ''] = /<ds:Signature[\s>].*?<\/ds:Signature>/s.exec(assertion) ?? [];
  const unsigned = assertion.replace(signature, '');
  const evil = unsigned
    .replace(/ ID="[^"]+"/, ' ID="_evil"')
    .replace(/(<saml:NameID[^>]*>)[^<]*/, '$1name-of-somebody-else');
  const within = (outer: string, inner: string): string =>
    outer.replace('</saml:Assertion>', `${inner}</saml:Assertion>`);
  return { assertion, signature, unsigned, evil, within };
}

const MANY = 'The response must contain exactly one assertion.';
const UNSIGNED = 'The assertion is not signed.';
const ALGORITHM = 'an algorithm that is not allowed';
const XML = 'not well-formed XML, or has a document type';

/** Somad, Mainka and others, "On Breaking SAML" (2012), figure 6: the eight positions of the signed assertion. */
const WRAPPING: readonly [string, (xml: string) => string, string][] = [
  [
    'XSW1: the signed response inside the signature of a forged one',
    (xml) => {
      const { assertion, signature, evil } = partsOf(xml);
      const wrapped = signature.replace(
        '</ds:Signature>',
        `<ds:Object>${assertion}</ds:Object></ds:Signature>`,
      );
      return xml.replace(assertion, evil.replace('</saml:Issuer>', `</saml:Issuer>${wrapped}`));
    },
    MANY,
  ],
  [
    'XSW2: a detached signature before the signed assertion',
    (xml) => {
      const { assertion, signature, unsigned, evil } = partsOf(xml);
      return xml.replace(assertion, `${signature}${unsigned}${evil}`);
    },
    MANY,
  ],
  [
    'XSW3: a forged assertion before the signed one',
    (xml) => xml.replace(partsOf(xml).assertion, partsOf(xml).evil + partsOf(xml).assertion),
    MANY,
  ],
  [
    'XSW4: the signed assertion inside a forged one',
    (xml) =>
      xml.replace(partsOf(xml).assertion, partsOf(xml).within(partsOf(xml).evil, partsOf(xml).assertion)),
    MANY,
  ],
  [
    'XSW5: a forged assertion with the signature of one that follows',
    (xml) => {
      const { assertion, signature, unsigned, evil } = partsOf(xml);
      return xml.replace(assertion, evil.replace('</saml:Issuer>', `</saml:Issuer>${signature}`) + unsigned);
    },
    MANY,
  ],
  [
    'XSW6: the signed assertion inside the signature of a forged one',
    (xml) => {
      const { assertion, signature, unsigned, evil } = partsOf(xml);
      const wrapped = signature.replace('</ds:Signature>', `${unsigned}</ds:Signature>`);
      return xml.replace(assertion, evil.replace('</saml:Issuer>', `</saml:Issuer>${wrapped}`));
    },
    MANY,
  ],
  [
    'XSW7: a forged assertion in an extension',
    (xml) => {
      const { assertion, evil } = partsOf(xml);
      return xml.replace(assertion, `<samlp:Extensions>${evil}</samlp:Extensions>${assertion}`);
    },
    MANY,
  ],
  [
    'XSW8: the signed assertion in an object of the signature',
    (xml) => {
      const { assertion, signature, unsigned, evil } = partsOf(xml);
      const wrapped = signature.replace(
        '</ds:Signature>',
        `<ds:Object>${unsigned}</ds:Object></ds:Signature>`,
      );
      return xml.replace(assertion, evil.replace('</saml:Issuer>', `</saml:Issuer>${wrapped}`));
    },
    MANY,
  ],
];

describe('A SAML provider', () => {
  it('cannot be enabled after a test that failed, until one succeeds', async () => {
    const another = await SamlTestProvider.create();
    const { visitor, id, metadata, ...owner } = await setUp(another);
    await visitor.fill(`${SSO_PATH}/${id}/disable`, {});
    const enable = async () => (await visitor.fill(`${SSO_PATH}/${id}/enable`, {})).status;
    const user = await addUserAt({ visitor, ...owner }, owner.domain);
    const test = async (forgery: SamlForgery): Promise<PageResponse> => {
      await visitor.get(`${SSO_PATH}/${id}`);
      const url = providerUrl(await visitor.submit(`${SSO_PATH}/${id}/test`));
      return deliver(visitor, await another.respondTo(url, metadata, accountOf(user), forgery), id);
    };
    expect((await test({ audience: 'https://elsewhere.example' })).status).toBe(403);
    expect(await enable()).toBe(400);
    expect((await test({})).status).toBe(200);
    expect(await enable()).toBe(303);
    await visitor.fill(`${SSO_PATH}/${id}/disable`, {});
    const { entityId } = another;
    const metadata_xml = another.metadata().replaceAll(entityId, `${entityId}/other`);
    await visitor.fill(`${SSO_PATH}/${id}/change`, { name: 'Other', metadata_xml });
    expect(await enable()).toBe(400);
  });
});

describe('A forged SAML response', () => {
  it.each<[string, (xml: string) => string, string]>([
    ...WRAPPING,
    ['no signature', (xml) => xml.replace(partsOf(xml).signature, ''), UNSIGNED],
    [
      'two signatures of the assertion',
      (xml) => xml.replace(partsOf(xml).signature, partsOf(xml).signature.repeat(2)),
      UNSIGNED,
    ],
    [
      'a changed NameID',
      (xml) => xml.replace(/(<saml:NameID[^>]*>)/, '$1x'),
      'The signature of the assertion is not valid',
    ],
    [
      'an HMAC with the public key',
      (xml) => xml.replace('2001/04/xmldsig-more#rsa-sha256', '2001/04/xmldsig-more#hmac-sha256'),
      ALGORITHM,
    ],
    [
      'a transform that leaves out content',
      (xml) =>
        xml.replace(
          'http://www.w3.org/2001/10/xml-exc-c14n#"/></ds:Transforms>',
          'http://www.w3.org/TR/1999/REC-xslt-19991116"/></ds:Transforms>',
        ),
      ALGORITHM,
    ],
    ['a document type', (xml) => `<!DOCTYPE Response [<!ENTITY x "y">]>${xml}`, XML],
    ['text that is not XML', () => 'SAMLResponse', XML],
    ['another root', () => '<Response/>', 'is not a SAML 2.0 response'],
    ['60,000 levels', () => '<a>'.repeat(60_000), 'more than 500 elements, 32 namespaces or 32 levels'],
    [
      'more than 500 elements',
      (xml) => xml.replace('</saml:Assertion>', `${'<a/>'.repeat(500)}</saml:Assertion>`),
      'more than 500 elements, 32 namespaces or 32 levels',
    ],
    ...['&lt;', '&#13;', '\r'].flatMap((part): [string, (xml: string) => string, string][] => [
      [
        `more than 5,000 times ${JSON.stringify(part)} in a value`,
        (xml) => xml.replace('</saml:AttributeValue>', `${part.repeat(5_001)}$&`),
        'more than 5000 character references and carriage returns',
      ],
      [
        `more than 5,000 times ${JSON.stringify(part)} outside the assertion`,
        (xml) => xml.replace('</samlp:Response>', `${part.repeat(5_001)}$&`),
        'more than 5000 character references and carriage returns',
      ],
    ]),
    [
      'more than 100,000 characters in XML attributes',
      (xml) => xml.replace('<saml:AttributeValue', `$& a="${'\n'.repeat(50_000)}" b="${' '.repeat(50_000)}"`),
      'too many or too long XML attributes',
    ],
    [
      'more than 256 KiB',
      (xml) => xml.replace('</samlp:Response>', `${' '.repeat(262_144)}</samlp:Response>`),
      'larger than 256 KiB',
    ],
  ])('is refused with %s', async (_what, change, reason) => {
    await expectRefused(await logIn(await addUser(), {}, change), reason);
  });

  it('is refused if it is signed with another certificate', async () => {
    const signer = await newSigner();
    await expectRefused(
      await logIn(await addUser(), {}, undefined, { signer }),
      'The response was signed with a certificate that is not in the metadata.',
    );
    // The certificate in the signature is only a claim.
    await expectRefused(
      await logIn(
        await addUser(),
        {},
        (xml) => xml.replace(signer.certificate, provider.signers[0]?.certificate ?? ''),
        { signer },
      ),
      'The signature of the assertion is not valid',
    );
  });

  it.each([
    ['a comment', '<!---->'],
    ['a processing instruction', '<?a?>'],
  ])('is refused if the NameID contains %s, which the signature does not cover', async (_what, part) => {
    const victim = await addUser();
    const split = (xml: string): string => xml.replace(/(<saml:NameID[^>]*>name)/, `$1${part}`);
    await expectRefused(await logIn(victim, {}, split), 'a comment or a processing instruction');
  });

  it.each([
    [
      'with a forged assertion beside it',
      (xml: string) => xml.replace('</samlp:Response>', '<saml:Assertion ID="_x"/></samlp:Response>'),
      MANY,
    ],
    [
      'with RSA PKCS #1 v1.5',
      (xml: string) => xml.replaceAll(/xmlenc#rsa-oaep-mgf1p/g, 'xmlenc#rsa-1_5'),
      ALGORITHM,
    ],
    [
      'for another certificate',
      (xml: string) => xml.replace(/(<e:CipherValue>|<xenc:CipherValue>|CipherValue>)..../, '$1AAAA'),
      'cannot be decrypted',
    ],
  ])('is refused if its assertion is encrypted %s', async (_what, change, reason) => {
    await expectRefused(await logIn(await addUser(), {}, change, { encrypts: true }), reason);
  });
});
