import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DAY } from '../../src/infrastructure/time/index.js';
import { SamlCertificatesService } from '../../src/modules/single-sign-on/saml/saml-certificates.service.js';
import { moveClock } from '../support/clock.js';
import { auditOf } from '../support/dashboard-users.js';
import { mailsTo } from '../support/mails.js';
import { newSigner, SamlTestProvider } from '../support/saml-provider.js';
import { samlMetadata } from '../support/saml.js';
import {
  addSamlProvider,
  addUserAt,
  newOwner,
  someDomain,
  SSO_PATH,
  type Owner,
} from '../support/single-sign-on.js';
import { countOf, startTestApp, type TestApp } from '../support/test-app.js';

let service: TestApp;
let server: Server;
let url: string;
/** What the address of the metadata responds with. */
let served: string;

beforeAll(async () => {
  server = createServer((_request, response) => response.end(served)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metadata`;
  service = await startTestApp({ WEBHOOK_TARGETS: 'any' });
});
afterAll(async () => {
  await service?.close();
  server.close();
});

const fingerprints = async ({ visitor }: Owner, id: string): Promise<string[]> =>
  (await visitor.get(`${SSO_PATH}/${id}`)).text.match(/<code>(?:[\dA-F]{2}:){31}[\dA-F]{2}<\/code>/g) ?? [];

const run = () => service.app.get(SamlCertificatesService).run();

describe('The metadata of a SAML provider', () => {
  it('is fetched when the provider is added, and again every day', async () => {
    const [owner, provider] = [await newOwner(service), await SamlTestProvider.create()];
    served = provider.metadata();
    const id = await addSamlProvider(owner, { metadata_url: url });
    await owner.visitor.fill(`${SSO_PATH}/${id}/enable`, {});
    const before = await fingerprints(owner, id);
    provider.signers = [...provider.signers, await newSigner()];
    served = provider.metadata();
    await run();
    expect(await fingerprints(owner, id)).toEqual(before);
    {
      using _clock = moveClock(service, DAY + 1_000);
      await run();
    }
    expect((await fingerprints(owner, id)).length).toBe(before.length + 1);
    // Metadata that only has another ID is no change.
    served = served.replace(/<(?:\w+:)?EntityDescriptor/, '$& ID="another"');
    {
      using _clock = moveClock(service, 2 * DAY + 2_000);
      await run();
    }
    const entries = await service.database.query(
      `SELECT changes FROM audit_log WHERE organization_id = $1 AND action = 'sso.update'`,
      [owner.organizationId],
    );
    expect(entries).toEqual([{ changes: [expect.objectContaining({ field: 'certificates' })] }]);
  });

  it.each([
    ['of another provider', () => samlMetadata({ entityId: 'https://other.example' })],
    ['that cannot be read', () => '<x/>'],
    ['that is too long', () => `${samlMetadata()}${' '.repeat(262_144)}`],
  ])('is not replaced by metadata %s', async (_what, next) => {
    const [owner, provider] = [await newOwner(service), await SamlTestProvider.create()];
    served = provider.metadata();
    const id = await addSamlProvider(owner, { metadata_url: url });
    const before = await fingerprints(owner, id);
    served = next();
    {
      using _clock = moveClock(service, DAY + 1_000);
      await run();
    }
    expect(await fingerprints(owner, id)).toEqual(before);
  });

  it.each([
    ['that cannot be read', () => '<x/>', 'a SAML 2.0 EntityDescriptor'],
    ['that is too long', () => `${samlMetadata()}${' '.repeat(262_144)}`, 'The metadata cannot be fetched.'],
  ])('is refused if it is metadata %s', async (_what, next, reason) => {
    const { visitor } = await newOwner(service);
    served = next();
    const fields = { name: 'Okta', metadata_url: url };
    const { status, text } = await visitor.fill(`${SSO_PATH}/configurations/new`, fields);
    expect([status, text]).toEqual([400, expect.stringContaining(reason)]);
    const neither = await visitor.submit(`${SSO_PATH}/configurations/new`, { name: 'Okta' });
    expect(neither.text).toContain('Enter the metadata, or its URL.');
  });
});

describe('A certificate', () => {
  it('leads to one email to the administrators 30 days before it expires, and one 7 days before', async () => {
    const [owner, signer] = [await newOwner(service), await newSigner(20 * DAY)];
    const admin = await addUserAt(owner, someDomain());
    const id = await addSamlProvider(owner, {
      metadata_xml: samlMetadata({ certificates: [signer.certificate] }),
    });
    await run();
    expect(await mailsTo(service, admin.email)).toEqual([]);
    await owner.visitor.fill(`${SSO_PATH}/${id}/enable`, {});
    expect((await owner.visitor.get(SSO_PATH)).text).toContain('Expires soon');
    for (const runs of [1, 2, 3]) {
      await run();
      expect([runs, (await mailsTo(service, admin.email)).length]).toEqual([runs, 1]);
    }
    using _clock = moveClock(service, 14 * DAY);
    for (const runs of [1, 2, 3]) {
      await run();
      expect([runs, (await mailsTo(service, admin.email)).length]).toEqual([runs, 2]);
    }
    const expiring = await service.app.get(SamlCertificatesService).expiring();
    expect(expiring.map(({ configuration }) => configuration.id)).toEqual([id]);
    expect(expiring[0]?.whose).toBe('the identity provider');
  });

  it('of the service is replaced in two steps', async () => {
    const [owner, provider] = [await newOwner(service), await SamlTestProvider.create()];
    const id = await addSamlProvider(owner, { metadata_xml: provider.metadata() });
    const metadata = async () => (await owner.visitor.get(`/sso/saml/${id}/metadata`)).text;
    const certificates = async () => (await metadata()).match(/use="signing"/g)?.length;
    await owner.visitor.get(`${SSO_PATH}/${id}`);
    expect(await certificates()).toBe(1);
    const added = await owner.visitor.submit(`${SSO_PATH}/${id}/certificates/add`);
    expect(added.location).toBe(`${SSO_PATH}/${id}?done=certificate-added`);
    expect(await certificates()).toBe(2);
    await owner.visitor.get(`${SSO_PATH}/${id}`);
    expect((await owner.visitor.submit(`${SSO_PATH}/${id}/certificates/add`)).status).toBe(400);
    const path = `${SSO_PATH}/${id}/certificates/remove`;
    expect((await owner.visitor.get(path)).text).toContain('Remove the older certificate of Example login?');
    expect((await owner.visitor.submit(path)).location).toBe(`${SSO_PATH}/${id}?done=certificate-removed`);
    expect(await certificates()).toBe(1);
    expect(await auditOf(service, owner.login)).toEqual([
      'sso.add success',
      'sso.update success',
      'sso.update success',
    ]);
  });

  it('of the service is created once by concurrent requests for the metadata', async () => {
    const [owner, provider] = [await newOwner(service), await SamlTestProvider.create()];
    const id = await addSamlProvider(owner, { metadata_xml: provider.metadata() });
    const [first, ...others] = await Promise.all(
      Array.from({ length: 10 }, () => owner.visitor.get(`/sso/saml/${id}/metadata`)),
    );
    const certificateIn = (text = '') => /<ds:X509Certificate>([^<]+)</.exec(text)?.[1];
    for (const { text } of others) expect(certificateIn(text)).toBe(certificateIn(first?.text));
    expect(countOf([...others], 200)).toBe(9);
    const unknown = '00000000-0000-4000-8000-000000000000';
    expect((await owner.visitor.get(`/sso/saml/${unknown}/metadata`)).status).toBe(404);
    expect((await owner.visitor.get(`/sso/saml/${unknown}/login`)).status).toBe(404);
    expect((await owner.visitor.get(`/sso/saml/${id}/login`)).status).toBe(404);
  });
});
