import { auditedBy } from '../support/audited.js';
import { moveClock } from '../support/clock.js';
import { CERTIFICATES, samlMetadata, type MetadataOptions } from '../support/saml.js';
import {
  invalidField,
  startTestApp,
  type TestResponse,
  type Login,
  type TestApp,
} from '../support/test-app.js';

const { STRONG, P256, EXPIRED, WEAK } = CERTIFICATES;
const YEAR = 365 * 86_400_000;

let service: TestApp;
let owner: Login;

beforeAll(async () => {
  service = await startTestApp({ DATABASE_CONNECT_TIMEOUT_MS: '10000' });
});
beforeEach(async () => {
  // Each test has its own organization, which may have 20 configurations.
  const { id } = await service.anotherOrganization();
  owner = await service.login('owner', id);
});
afterAll(() => service.close());

const create = (
  metadata: MetadataOptions | string = {},
  name = 'Okta',
  login = owner,
): Promise<TestResponse> =>
  service.request('/saml-configurations/create', {
    body: { name, metadata_xml: typeof metadata === 'string' ? metadata : samlMetadata(metadata) },
    login,
  });
const update = (id: unknown, body: unknown) =>
  service.request(`/saml-configurations/${String(id)}`, { method: 'PATCH', body, login: owner });
const setState = (id: unknown, action: 'enable' | 'disable', login = owner) =>
  service.request(`/saml-configurations/${String(id)}/${action}`, { method: 'POST', login });
const get = async (id: unknown) =>
  (await service.request(`/saml-configurations/${String(id)}`, { login: owner })).body;
const expectRefused = ({ status, body }: TestResponse, message: string) =>
  expect([status, body]).toEqual([400, invalidField(message)]);

describe('A single sign-on configuration', () => {
  it('contains the properties from the metadata', async () => {
    const { status, body } = await create({ certificates: [EXPIRED, STRONG, P256] });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.any(String) as string,
      name: 'Okta',
      entity_id: 'https://idp.example.com',
      sso_url: 'https://idp.example.com/sso?a=1&b=2',
      certificates: [
        {
          subject: 'CN=idp.example.com, O=Example Ltd',
          sha256_fingerprint: expect.stringMatching(/^[0-9A-F:]{95}$/) as string,
          valid_from: expect.stringMatching(/^20\d\d-.*Z$/) as string,
          valid_to: expect.stringMatching(/^2126-.*Z$/) as string,
        },
        expect.objectContaining({ subject: 'CN=p256.example.com' }),
      ],
      enabled: false,
      created_at: expect.any(String) as string,
    });
    expect(await get(body['id'])).toEqual(body);
    const { body: all } = await service.request<unknown>('/saml-configurations', { login: owner });
    expect(all).toEqual([body]);
  });

  it.each<[string, MetadataOptions | string]>([
    ['The metadata xml field is required.', ''],
    ['The metadata xml field must be well-formed XML without a document type.', '<a>'],
    [
      'The metadata xml field must be well-formed XML without a document type.',
      `<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>${samlMetadata()}`,
    ],
    [
      'The metadata xml field must not have more than 5000 elements, 5000 attributes, 2000 namespace declarations ' +
        'or 32 levels.',
      `<a>${'<b/>'.repeat(12_000)}</a>`,
    ],
    ['The metadata xml field must contain a SAML 2.0 EntityDescriptor.', '<a/>'],
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
      'The Location of the SingleSignOnService must be an https URL.',
      { services: [['HTTP-POST', 'http://idp.example.com']] },
    ],
    ['The identity provider must have a signing certificate.', { certificates: [] }],
    ['The signing certificate cannot be read.', { certificates: ['AAAA'] }],
    ['The signing certificate has expired.', { certificates: [EXPIRED] }],
    [
      'The key of the signing certificate must be RSA of at least 2048 bits, or EC on P-256, P-384 or P-521.',
      { certificates: [WEAK] },
    ],
    ['The metadata xml field must not be greater than 262144 characters.', 'x'.repeat(262_145)],
  ])('is rejected on creation and change: %s', async (message, metadata) => {
    expectRefused(await create(metadata), message);
    if (metadata === '') return;
    const { body } = await create();
    const metadata_xml = typeof metadata === 'string' ? metadata : samlMetadata(metadata);
    expectRefused(await update(body['id'], { metadata_xml }), message);
    expect(await get(body['id'])).toEqual(body);
  });

  it.each([
    ['The name field is required.', { name: ' ' }],
    ['The name field must be a string.', { name: [] }],
    ['The name field must not be greater than 256 characters.', { name: 'x'.repeat(257) }],
    ['The metadata xml field must be a string.', { metadata_xml: {} }],
    [
      'The metadata xml field must not contain null characters or unpaired surrogates.',
      { metadata_xml: '<a>\0</a>' },
    ],
  ])('is rejected with "%s"', async (message, change) => {
    const body = { name: 'Okta', metadata_xml: samlMetadata(), ...change };
    expectRefused(await service.request('/saml-configurations/create', { body, login: owner }), message);
  });

  it('changes the given fields only', async () => {
    const { body } = await create();
    expect((await update(body['id'], { name: 'Entra' })).body).toEqual({ ...body, name: 'Entra' });
    const metadata_xml = samlMetadata({ entityId: 'urn:other', certificates: [P256] });
    const changed = await update(body['id'], { metadata_xml, name: null });
    expect(changed.body).toMatchObject({ name: 'Entra', entity_id: 'urn:other', enabled: false });
    expect(await get(body['id'])).toEqual(changed.body);
  });

  it('is limited to exactly 20 per organization, also under concurrent requests', async () => {
    const responses = await Promise.all(Array.from({ length: 25 }, () => create()));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(20);
    for (const response of responses.filter(({ status }) => status !== 200))
      expectRefused(
        response,
        'The organization already has 20 single sign-on configurations: change one of them.',
      );
  });
});

describe('Enabling', () => {
  it('is possible for one configuration at a time, also under 20 concurrent requests', async () => {
    const ids: unknown[] = [];
    for (let index = 0; index < 20; index += 1) ids.push((await create({}, `Number ${index}`)).body['id']);
    const responses = await Promise.all(ids.map((id) => setState(id, 'enable')));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const response of responses.filter(({ status }) => status !== 200))
      expectRefused(response, 'Another single sign-on configuration is enabled: disable it first.');
    const { body: all } = await service.request<{ id: string; enabled: boolean }[]>('/saml-configurations', {
      login: owner,
    });
    const [enabled, ...others] = all.filter((configuration) => configuration.enabled);
    expect(others).toEqual([]);
    expect((await setState(enabled?.id, 'disable')).body).toMatchObject({ enabled: false });
    const another = ids.find((id) => id !== enabled?.id);
    expect((await setState(another, 'enable')).body).toMatchObject({ enabled: true });
  });

  it('is not possible for another organization', async () => {
    const { id } = await service.anotherOrganization();
    const otherOwner = await service.login('owner', id);
    expect((await setState((await create()).body['id'], 'enable')).status).toBe(200);
    const other = await create({}, 'Theirs', otherOwner);
    expect((await setState(other.body['id'], 'enable', otherOwner)).status).toBe(200);
  });

  it('checks the certificates again', async () => {
    const { body } = await create();
    using _clock = moveClock(service, 110 * YEAR);
    await service.database.query(
      `UPDATE dashboard_session SET expires_at = 'infinity', authenticated_at = now() + interval '110 years'`,
    );
    expectRefused(
      await setState(body['id'], 'enable'),
      'Every signing certificate of the configuration has expired: send new metadata first.',
    );
    expect(await get(body['id'])).toMatchObject({ enabled: false });
  });

  it('is idempotent, as is disabling', async () => {
    const { body } = await create();
    const first = await setState(body['id'], 'enable');
    expect((await setState(body['id'], 'enable')).body).toEqual(first.body);
    expect((await setState(body['id'], 'disable')).body).toEqual(body);
    expect((await setState(body['id'], 'disable')).body).toEqual(body);
  });

  it('is recorded once for 20 concurrent requests', async () => {
    const otherOwner = await service.login('owner');
    const { body } = await create({}, 'Once', otherOwner);
    const entries = await auditedBy(service, () =>
      Promise.all(Array.from({ length: 20 }, () => setState(body['id'], 'enable', otherOwner))),
    );
    expect(entries).toEqual(['sso.enable success Once']);
  });
});
