import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DomainProofsJob } from '../../../src/modules/allowlisted-domains/domain-proofs.job.js';
import { SamlCertificatesJob } from '../../../src/modules/single-sign-on/configurations/saml-certificates.job.js';
import { startDnsServer, type DnsServer } from '../../support/http/dns-server.js';
import { SamlTestProvider } from '../../support/logins/saml-provider.js';
import {
  addSamlProvider,
  newOwner,
  proveDomain,
  SSO_PATH,
  ssoSettings,
} from '../../support/logins/single-sign-on.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

let service: TestApp;
let dns: DnsServer;
let server: Server;
let url: string;
let provider: SamlTestProvider;

beforeAll(async () => {
  [dns, provider] = await Promise.all([startDnsServer(), SamlTestProvider.create()]);
  server = createServer((_request, response) => response.end(provider.metadata())).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metadata`;
  service = await startTestApp(ssoSettings(dns));
});
afterAll(async () => {
  await service?.close();
  server?.close();
  await dns?.close();
});

interface Kind {
  readonly table: string;
  readonly column: string;
  run(): Promise<void>;
  /** Adds a check of another organization that succeeds, last a day ago. @returns the ID of its row */
  addGood(): Promise<string>;
  /** Adds checks that never succeed, last two days ago. */
  addBad(count: number): Promise<void>;
}

const SINCE = { good: `now() - interval '25 hours'`, bad: `now() - interval '2 days'` };

const DOMAINS: Kind = {
  table: 'allowlisted_domain',
  column: 'proof_checked_at',
  run: () => service.app.get(DomainProofsJob).run(),
  async addGood() {
    const domain = await proveDomain(await newOwner(service), dns);
    const [row] = await service.database.query<{ id: string }>(
      `UPDATE allowlisted_domain SET proof_checked_at = ${SINCE.good} WHERE domain = $1 RETURNING id`,
      [domain],
    );
    return row?.id ?? '';
  },
  async addBad(count) {
    const names = Array.from({ length: count }, () => `${randomUUID()}.example`);
    for (const name of names) dns.set(`_merchant-connectivity.${name}`, { errorCode: 2 });
    await service.database.query(
      `INSERT INTO allowlisted_domain (id, organization_id, domain, created_at, proved_at, proof_checked_at)
       SELECT gen_random_uuid(), $1, name, now(), now(), ${SINCE.bad} FROM unnest($2::text[]) name`,
      [(await service.anotherOrganization()).id, names],
    );
  },
};

const METADATA: Kind = {
  table: 'saml_configuration',
  column: 'metadata_checked_at',
  run: () => service.app.get(SamlCertificatesJob).run(),
  async addGood() {
    const owner = await newOwner(service);
    const id = await addSamlProvider(owner, { metadata_url: url });
    await owner.visitor.fill(`${SSO_PATH}/${id}/enable`, {});
    const since = `UPDATE saml_configuration SET metadata_checked_at = ${SINCE.good} WHERE id = $1`;
    await service.database.query(since, [id]);
    return id;
  },
  async addBad(count) {
    const organizations = await service.database.query<{ id: string }>(
      `INSERT INTO organization (id, name, created_at)
       SELECT gen_random_uuid(), 'Bad', now() FROM generate_series(1, $1) RETURNING id`,
      [count],
    );
    await service.database.query(
      `INSERT INTO saml_configuration (id, organization_id, name, metadata_xml, entity_id, sso_url, sso_binding, certificates,
                                       created_at, enabled_at, metadata_url, metadata_checked_at)
       SELECT gen_random_uuid(), organization_id, 'Bad', '', 'bad', '', '', '{}', now(), now(), 'http://127.0.0.1:1/', ${SINCE.bad}
         FROM unnest($1::uuid[]) organization_id`,
      [organizations.map(({ id }) => id)],
    );
  },
};

async function wasChecked({ table, column }: Kind, id: string): Promise<boolean> {
  const [row] = await service.database.query<{ checked: boolean }>(
    `SELECT ${column} BETWEEN now() - interval '1 hour' AND now() AS checked FROM ${table} WHERE id = $1`,
    [id],
  );
  return row?.checked ?? false;
}

describe.each([
  ['domains', DOMAINS],
  ['metadata', METADATA],
])('The hourly checks of %s', (_name, kind) => {
  it('reach one that succeeds, although 1,000 that never do have waited longer', async () => {
    const id = await kind.addGood();
    await kind.addBad(1_000);
    await kind.run();
    await kind.run();
    expect(await wasChecked(kind, id)).toBe(true);
  });

  it('are repeated although the last one has the time of a clock that was ahead', async () => {
    const id = await kind.addGood();
    const ahead = `UPDATE ${kind.table} SET ${kind.column} = now() + interval '1 year' WHERE id = $1`;
    await service.database.query(ahead, [id]);
    await kind.run();
    await kind.run();
    expect(await wasChecked(kind, id)).toBe(true);
  });
});

it('The hourly checks of domains do not let one organization delay those of others', async () => {
  await service.database.query('DELETE FROM allowlisted_domain');
  await DOMAINS.addBad(1_000);
  const id = await DOMAINS.addGood();
  await DOMAINS.run();
  expect(await wasChecked(DOMAINS, id)).toBe(true);
});
