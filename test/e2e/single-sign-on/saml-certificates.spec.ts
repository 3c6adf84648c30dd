import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OverdueWork } from '../../../src/infrastructure/database/index.js';
import { DAY, HOUR } from '../../../src/infrastructure/time/index.js';
import { SamlCertificatesJob } from '../../../src/modules/single-sign-on/configurations/saml-certificates.job.js';
import { SamlCertificatesService } from '../../../src/modules/single-sign-on/configurations/saml-certificates.service.js';
import { SsoSettingsRepository } from '../../../src/modules/single-sign-on/settings/sso-settings.repository.js';
import { SamlKeysService } from '../../../src/modules/single-sign-on/saml/saml-keys.service.js';
import { moveClock } from '../../support/clock.js';
import { auditOf } from '../../support/pages/dashboard-users.js';
import { eventually } from '../../support/eventually.js';
import { whileInsertsFail } from '../../support/database/failing-inserts.js';
import { mailsTo, sendEmails } from '../../support/messages/mails.js';
import { newSigner, SamlTestProvider } from '../../support/logins/saml-provider.js';
import { samlMetadata } from '../../support/logins/saml.js';
import { SmtpServer } from '../../support/messages/smtp-server.js';
import { watchStatements } from '../../support/database/statements.js';
import {
  addSamlProvider,
  addUserAt,
  newOwner,
  someDomain,
  SSO_PATH,
  type Owner,
} from '../../support/logins/single-sign-on.js';
import { countOf, startTestApp, type TestApp } from '../../support/test-app.js';
import { visitorWithRole } from '../../support/pages/visitor.js';

let service: TestApp;
let server: Server;
let url: string;
/** The response of the address of the metadata. */
let served: string;

/** The response to the next request only. */
let held: Promise<string> | undefined;

beforeAll(async () => {
  server = createServer((_request, response) => {
    const next = held ?? Promise.resolve(served);
    held = undefined;
    void next.then((text) => response.end(text));
  }).listen(0, '127.0.0.1');
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

const run = () => service.app.get(SamlCertificatesJob).run();

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

  it('is fetched again after a failure, and the check is overdue meanwhile', async () => {
    const [owner, provider] = [await newOwner(service), await SamlTestProvider.create()];
    served = provider.metadata();
    const id = await addSamlProvider(owner, { metadata_url: url });
    await owner.visitor.fill(`${SSO_PATH}/${id}/enable`, {});
    const before = await fingerprints(owner, id);
    provider.signers = [...provider.signers, await newSigner()];
    served = 'Not found';
    const overdue = service.app.get(OverdueWork);
    {
      using _clock = moveClock(service, 2 * DAY);
      await run();
      expect((await overdue.read()).get('metadata_checks')).toBeGreaterThan(HOUR);
      served = provider.metadata();
      await run();
    }
    expect((await fingerprints(owner, id)).length).toBe(before.length + 1);
  });

  it('that was fetched before newer metadata does not replace it', async () => {
    const [owner, provider] = [await newOwner(service), await SamlTestProvider.create()];
    served = provider.metadata();
    const id = await addSamlProvider(owner, { metadata_url: url });
    await owner.visitor.fill(`${SSO_PATH}/${id}/enable`, {});
    const old = served;
    const renew = () =>
      owner.visitor.fill(`${SSO_PATH}/${id}/change`, { name: 'Example login', metadata_url: url });
    provider.signers = [await newSigner()];
    let release = (): void => undefined;
    held = new Promise((resolve) => {
      release = () => resolve(old);
    });
    await service.database.query(
      `UPDATE saml_configuration SET metadata_checked_at = now() - interval '2 days' WHERE id = $1`,
      [id],
    );
    const running = run();
    await eventually('the job fetches the metadata', async () => held === undefined);
    served = provider.metadata();
    expect((await renew()).location).toContain('done=changed');
    const renewed = await fingerprints(owner, id);
    release();
    await running;
    expect(await fingerprints(owner, id)).toEqual(renewed);
  });

  it('is compared by what it means: who approved and tested it stays known if an admin changes the name', async () => {
    const [owner, provider] = [await newOwner(service), await SamlTestProvider.create()];
    const state = async () => {
      const [row] = await service.database.query<Record<string, unknown>>(
        `SELECT name, is_owner_approved AS approved, tested_at IS NOT NULL AS tested, metadata_url AS url
           FROM saml_configuration WHERE organization_id = $1`,
        [owner.organizationId],
      );
      return row;
    };
    const copy = (): string => {
      const own = provider.metadata().replace(/<(?:\w+:)?EntityDescriptor/, `$& ID="_${randomUUID()}"`);
      const [first = '', ...others] = own.match(/<md:KeyDescriptor.*?<\/md:KeyDescriptor>/gs) ?? [];
      return own.replace([first, ...others].join(''), [...others, first].join(''));
    };
    provider.signers = [...provider.signers, await newSigner()];
    served = copy();
    const id = await addSamlProvider(owner, { metadata_url: url });
    await owner.visitor.fill(`${SSO_PATH}/${id}/enable`, {});
    const approve = () =>
      service.database.query(
        'UPDATE saml_configuration SET tested_at = now(), is_owner_approved = true WHERE id = $1',
        [id],
      );
    await approve();
    const admin = await visitorWithRole(service, 'admin', owner.organizationId);
    const save = async (fields: Record<string, string>) =>
      (await admin.fill(`${SSO_PATH}/${id}/change`, fields)).location?.split('?')[1];
    const unchanged = { approved: true, tested: true, url };

    served = 'The provider is down';
    expect(await save({ name: 'Renamed', metadata_url: url })).toBe('done=changed');
    expect(await state()).toEqual({ name: 'Renamed', ...unchanged });
    // The form without changes fetches the metadata again.
    expect(await save({ name: 'Renamed', metadata_url: url })).toBeUndefined();
    served = copy();
    expect(await save({ name: 'Renamed', metadata_url: url })).toBe('done=changed');
    expect(await state()).toEqual({ name: 'Renamed', ...unchanged });
    const before = await fingerprints(owner, id);
    provider.signers = [...provider.signers, await newSigner()];
    served = provider.metadata();
    expect(await save({ name: 'Renamed', metadata_url: url })).toBe('done=changed');
    expect((await fingerprints(owner, id)).length).toBe(before.length + 1);
    expect(await state()).toEqual({ name: 'Renamed', ...unchanged });
    // Pasted metadata neither replaces the URL nor ends the daily requests, unless the URL is removed.
    expect(await save({ name: 'Renamed', metadata_url: url, metadata_xml: copy() })).toBeUndefined();
    expect(await state()).toEqual({ name: 'Renamed', ...unchanged });
    expect(await save({ name: 'Renamed', metadata_xml: copy() })).toBe('done=changed');
    expect(await state()).toEqual({ name: 'Renamed', approved: false, tested: false, url: null });
    await approve();
    expect(await save({ name: 'Again', metadata_xml: copy() })).toBe('done=changed');
    expect(await state()).toEqual({ name: 'Again', approved: true, tested: true, url: null });
    expect(await auditOf(service, admin.login)).toEqual(Array(4).fill('sso.update success'));
  });

  it.each([
    [
      'another login URL',
      (xml: string) => xml.replaceAll('https://idp.example.com/sso', 'https://idp.example.com/other'),
    ],
    ['another binding', (xml: string) => xml.replaceAll('HTTP-Redirect', 'HTTP-POST')],
  ])('is no longer tested if the metadata that is fetched has %s', async (_what, change) => {
    const [owner, provider] = [await newOwner(service), await SamlTestProvider.create()];
    served = provider.metadata();
    const id = await addSamlProvider(owner, { metadata_url: url });
    await owner.visitor.fill(`${SSO_PATH}/${id}/enable`, {});
    await service.database.query('UPDATE saml_configuration SET tested_at = now() WHERE id = $1', [id]);
    const settings = service.app.get(SsoSettingsRepository);
    await settings.save({ ...(await settings.get(owner.organizationId)), requiredAt: new Date() });
    const admin = await addUserAt(owner, someDomain());
    await run();
    expect(await mailsTo(service, admin.email)).toEqual([]);
    served = change(served);
    using _clock = moveClock(service, DAY + 1_000);
    await run();
    await run();
    expect(await mailsTo(service, admin.email)).toEqual([
      expect.stringContaining('Subject: Single sign-on is not required at the moment'),
    ]);
    expect(
      await service.database.query(
        'SELECT tested_at, is_owner_approved FROM saml_configuration WHERE id = $1',
        [id],
      ),
    ).toEqual([{ tested_at: null, is_owner_approved: true }]);
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

  it('is not announced again to administrators whose mail server has refused the email for good', async () => {
    const mailServer = await SmtpServer.start();
    await using refusing = await startTestApp({ SMTP_URL: mailServer.url, MAIL_FROM: 'service@example.com' });
    const [owner, signer] = [await newOwner(refusing), await newSigner(20 * DAY)];
    const id = await addSamlProvider(owner, {
      metadata_xml: samlMetadata({ certificates: [signer.certificate] }),
    });
    await owner.visitor.fill(`${SSO_PATH}/${id}/enable`, {});
    const attempts: string[] = [];
    mailServer.onRecipient = (to) => {
      attempts.push(to);
      return '550 5.1.1 No such user';
    };
    for (let runs = 0; runs < 4; runs += 1) {
      using _clock = moveClock(refusing, runs * HOUR);
      await refusing.app.get(SamlCertificatesJob).run();
      await sendEmails(refusing);
    }
    // Once to each administrator.
    expect(attempts.length).toBeGreaterThan(0);
    expect(new Set(attempts).size).toBe(attempts.length);
    mailServer.close();
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

  it('of the service is changed together with its audit entry, which nothing else causes', async () => {
    const [owner, provider] = [await newOwner(service), await SamlTestProvider.create()];
    const id = await addSamlProvider(owner, { metadata_xml: provider.metadata() });
    await owner.visitor.get(`${SSO_PATH}/${id}`);
    await service.database.query('UPDATE saml_configuration SET tested_at = now() WHERE id = $1', [id]);
    const certificates = async () =>
      (await owner.visitor.get(`/sso/saml/${id}/metadata`)).text.match(/use="signing"/g)?.length;
    const isTested = async () => !(await owner.visitor.get(`${SSO_PATH}/${id}`)).text.includes('Not yet');
    const add = () => owner.visitor.submit(`${SSO_PATH}/${id}/certificates/add`);
    const remove = () => owner.visitor.submit(`${SSO_PATH}/${id}/certificates/remove`);
    const failing = (work: () => Promise<unknown>, count: number) =>
      whileInsertsFail(service, 'audit_log', async () => {
        await work();
        expect(await certificates()).toBe(count);
      });
    await failing(add, 1);
    expect([(await add()).status, await certificates(), await isTested()]).toEqual([303, 2, true]);
    expect((await add()).status).toBe(400);
    await failing(remove, 2);
    for (const _ of [1, 2, 3]) await remove();
    // Requests are signed with the other key now.
    expect([await certificates(), await isTested()]).toEqual([1, false]);
    expect(await auditOf(service, owner.login)).toEqual([
      'sso.add success',
      'sso.update success',
      'sso.update success',
    ]);
  });

  it('of the service is created once by concurrent requests for the metadata', async () => {
    const [owner, provider] = [await newOwner(service), await SamlTestProvider.create()];
    const id = await addSamlProvider(owner, { metadata_xml: provider.metadata() });
    const create = import.meta.jest.spyOn(service.app.get(SamlKeysService), 'create');
    const [first, ...others] = await Promise.all(
      Array.from({ length: 10 }, () => owner.visitor.get(`/sso/saml/${id}/metadata`)),
    );
    const certificateIn = (text = '') => /<ds:X509Certificate>([^<]+)</.exec(text)?.[1];
    for (const { text } of others) expect(certificateIn(text)).toBe(certificateIn(first?.text));
    expect(countOf([...others], 200)).toBe(9);
    expect(create).toHaveBeenCalledTimes(1);
    create.mockRestore();
    const unknown = '00000000-0000-4000-8000-000000000000';
    expect((await owner.visitor.get(`/sso/saml/${unknown}/metadata`)).status).toBe(404);
    expect((await owner.visitor.get(`/sso/saml/${unknown}/login`)).status).toBe(404);
    expect((await owner.visitor.get(`/sso/saml/${id}/login`)).status).toBe(404);
  });
});

it('Certificates of all configurations are read with two statements', async () => {
  for (let count = 0; count < 3; count += 1) {
    const [owner, provider] = [await newOwner(service), await SamlTestProvider.create()];
    const id = await addSamlProvider(owner, { metadata_xml: provider.metadata() });
    await owner.visitor.fill(`${SSO_PATH}/${id}/enable`, {});
  }
  const statements = watchStatements(service);
  await service.app.get(SamlCertificatesService).expiring();
  expect(statements).toHaveLength(2);
});
