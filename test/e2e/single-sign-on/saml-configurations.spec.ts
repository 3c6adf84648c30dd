import { auditedBy } from '../../support/logs/audited.js';
import { moveClock } from '../../support/clock.js';
import { openPage, submitForm, type FormResponse } from '../../support/pages/dashboard-forms.js';
import { CERTIFICATES, samlMetadata, type MetadataOptions } from '../../support/logins/saml.js';
import { newSigner } from '../../support/logins/saml-provider.js';
import { useTestApp, type Login } from '../../support/test-app.js';

const { STRONG, P256, EXPIRED, WEAK } = CERTIFICATES;
const YEAR = 365 * 86_400_000;

const service = useTestApp();
let owner: Login;

beforeEach(async () => {
  // Each test has its own organization, which may have 20 configurations.
  const { id } = await service.anotherOrganization();
  owner = await service.login('owner', id);
});

const PATH = '/dashboard/single-sign-on';
const create = (metadata: MetadataOptions | string = {}, name = 'Okta', login = owner) => {
  const metadata_xml = typeof metadata === 'string' ? metadata : samlMetadata(metadata);
  return submitForm(service, login, `${PATH}/configurations/new`, { name, metadata_xml });
};
const update = (id: string, fields: Record<string, string>) =>
  submitForm(service, owner, `${PATH}/${id}/change`, fields);
const setState = (id: string, action: 'enable' | 'disable', login = owner) =>
  submitForm(service, login, `${PATH}/${id}/${action}`);
const all = (): Promise<{ id: string; enabled_at: Date | null }[]> =>
  service.database.query('SELECT * FROM saml_configuration WHERE organization_id = $1', [
    owner.organizationId,
  ]);
const get = async (id: string) => (await all()).find((configuration) => configuration.id === id);
const expectRefused = ({ status, problem }: FormResponse, message: string) =>
  expect([status, problem]).toEqual([400, message]);

describe('A single sign-on configuration', () => {
  it('contains the properties from the metadata', async () => {
    const { certificate } = await newSigner();
    const { status, id } = await create({ certificates: [EXPIRED, STRONG, certificate, P256] });
    expect(status).toBe(303);
    const { text } = await openPage(service, owner, `${PATH}/${id}`);
    for (const shown of [
      'https://idp.example.com',
      'https://idp.example.com/sso?a=1&amp;b=2',
      'CN=idp.example.com, O=Example Ltd',
    ])
      expect(text).toContain(shown);
    // The expired certificate and that on a curve are left out; the third one is that of the service.
    expect(text.match(/<code>(?:[\dA-F]{2}:){31}[\dA-F]{2}<\/code>/g)).toHaveLength(3);
    expect(await get(id)).toMatchObject({ name: 'Okta', enabled_at: null });
  });

  it('is read from metadata with white space and a byte order mark around them', async () => {
    const xml = samlMetadata().replace(/^(?:<\?xml.*?\?>)?/, '<?xml version="1.0" encoding="UTF-8"?>');
    expect((await create(`\n \ufeff${xml}\n`)).status).toBe(303);
  });

  it.each<[string, MetadataOptions | string]>([
    ['The “Metadata” field must be well-formed XML without a document type.', '<a>'],
    [
      'The “Metadata” field must be well-formed XML without a document type.',
      `<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>${samlMetadata()}`,
    ],
    [
      'The “Metadata” field must not have more than 5000 elements, 5000 attributes, 2000 namespace declarations ' +
        'or 32 levels.',
      `<a>${'<b/>'.repeat(12_000)}</a>`,
    ],
    ['The “Metadata” field must contain a SAML 2.0 EntityDescriptor.', '<a/>'],
    ['The EntityDescriptor must have an entityID of 1 to 1024 characters.', { entityId: '' }],
    [
      'The EntityDescriptor must describe an identity provider: it has no IDPSSODescriptor.',
      samlMetadata().replaceAll('IDPSSODescriptor', 'SPSSODescriptor'),
    ],
    [
      'The identity provider must have a SingleSignOnService with the binding HTTP-Redirect or HTTP-POST.',
      { services: [] },
    ],
    [
      'The Location of the SingleSignOnService must be an https URL of at most 2048 characters.',
      { services: [['HTTP-POST', 'http://idp.example.com']] },
    ],
    // With a longer one, every login would fail.
    [
      'The Location of the SingleSignOnService must be an https URL of at most 2048 characters.',
      { services: [['HTTP-Redirect', `https://idp.example.com/${'a'.repeat(14_000)}`]] },
    ],
    ['The identity provider must have a signing certificate.', { certificates: [] }],
    ['The signing certificate cannot be read.', { certificates: ['AAAA'] }],
    ['The signing certificate has expired.', { certificates: [EXPIRED] }],
    [
      'The key of the signing certificate must be RSA of at least 2048 bits: the service cannot verify signatures with elliptic curves or RSA-PSS. Choose an RSA certificate at the identity provider.',
      { certificates: [WEAK] },
    ],
    ['The “Metadata” field must not be greater than 262144 characters.', 'x'.repeat(262_145)],
  ])('is rejected on creation and change: %s', async (message, metadata) => {
    expectRefused(await create(metadata), message);
    const { id } = await create();
    const before = await get(id);
    const metadata_xml = typeof metadata === 'string' ? metadata : samlMetadata(metadata);
    expectRefused(await update(id, { metadata_xml }), message);
    expect(await get(id)).toEqual(before);
  });

  it.each([
    ['The “Name” field is required.', { name: ' ' }],
    ['The “Name” field must not be greater than 256 characters.', { name: 'x'.repeat(257) }],
    ['Enter the metadata, or its URL.', { metadata_xml: '' }],
  ])('is rejected with "%s"', async (message, change) => {
    const { name, metadata_xml } = { name: 'Okta', metadata_xml: samlMetadata(), ...change };
    expectRefused(await create(metadata_xml, name), message);
  });

  it('changes the given fields only', async () => {
    const { id } = await create();
    const before = await get(id);
    await update(id, { name: 'Entra' });
    expect(await get(id)).toEqual({ ...before, name: 'Entra' });
    const { certificate } = await newSigner();
    await update(id, { metadata_xml: samlMetadata({ entityId: 'urn:other', certificates: [certificate] }) });
    expect(await get(id)).toMatchObject({ name: 'Entra', entity_id: 'urn:other', enabled_at: null });
  });

  it('is limited to exactly 20 per organization, also under concurrent requests', async () => {
    const responses = await Promise.all(Array.from({ length: 25 }, () => create()));
    expect(responses.filter(({ status }) => status === 303)).toHaveLength(20);
    for (const response of responses.filter(({ status }) => status !== 303))
      expectRefused(
        response,
        'The organization already has 20 single sign-on configurations: change one of them.',
      );
  });
});

describe('Enabling', () => {
  it('is possible for one configuration at a time, also under 20 concurrent requests', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 20; index += 1) ids.push((await create({}, `Number ${index}`)).id);
    const responses = await Promise.all(ids.map((id) => setState(id, 'enable')));
    expect(responses.filter(({ status }) => status === 303)).toHaveLength(1);
    for (const response of responses.filter(({ status }) => status !== 303))
      expectRefused(response, 'Another single sign-on configuration is enabled: disable it first.');
    const [enabled, ...others] = (await all()).filter((configuration) => configuration.enabled_at);
    expect(others).toEqual([]);
    expect((await setState(enabled?.id ?? '', 'disable')).status).toBe(303);
    const another = ids.find((id) => id !== enabled?.id) ?? '';
    expect((await setState(another, 'enable')).status).toBe(303);
    expect(await get(another)).toMatchObject({ enabled_at: expect.any(Date) });
  });

  it('is not possible for another organization', async () => {
    const { id } = await service.anotherOrganization();
    const otherOwner = await service.login('owner', id);
    expect((await setState((await create()).id, 'enable')).status).toBe(303);
    const other = await create({}, 'Theirs', otherOwner);
    expect((await setState(other.id, 'enable', otherOwner)).status).toBe(303);
  });

  it('checks the certificates again', async () => {
    const { id } = await create();
    using _clock = moveClock(service, 110 * YEAR);
    await service.database.query(
      `UPDATE dashboard_session SET expires_at = 'infinity', authenticated_at = now() + interval '${110 * 365} days'`,
    );
    expectRefused(
      await setState(id, 'enable'),
      'The signing certificate has expired. Enter new metadata first.',
    );
    expect(await get(id)).toMatchObject({ enabled_at: null });
  });

  it('is idempotent, as is disabling', async () => {
    const { id } = await create();
    for (const action of ['enable', 'disable'] as const) {
      await setState(id, action);
      const first = await get(id);
      expect((await setState(id, action)).status).toBe(303);
      expect(await get(id)).toEqual(first);
    }
  });

  it('is recorded once for 20 concurrent requests', async () => {
    const otherOwner = await service.login('owner');
    const { id } = await create({}, 'Once', otherOwner);
    const entries = await auditedBy(service, () =>
      Promise.all(Array.from({ length: 20 }, () => setState(id, 'enable', otherOwner))),
    );
    expect(entries).toEqual(['sso.enable success Once']);
  });
});
