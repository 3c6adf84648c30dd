import { auditedBy } from '../support/audited.js';
import { PNG } from '../support/operations.js';
import { error, invalidField, startTestApp, type Login, type TestApp } from '../support/test-app.js';

const LARGEST = 262_144;
const JPEG = Buffer.from('ffd8ffe000104a464946', 'hex');
const WEBP = Buffer.from('524946461a00000057454250565038', 'hex');

let service: TestApp;
let owner: Login;
let admin: Login;
let member: Login;

beforeAll(async () => {
  service = await startTestApp({ DATABASE_CONNECT_TIMEOUT_MS: '10000' });
  owner = await service.login('owner');
  admin = await service.login('admin');
  member = await service.login('member');
});
afterAll(() => service.close());

const organization = async (login = owner) => (await service.request('/organization', { login })).body;
const activate = (login = owner) => service.request('/organization/activate', { method: 'POST', login });
const uploadLogo = (image: unknown, login = owner) =>
  service.request('/organization/logo', { body: { image }, login });
const withLength = (beginning: Buffer, length: number): string =>
  Buffer.concat([beginning, Buffer.alloc(length - beginning.length, 7)]).toString('base64');

describe('The organization', () => {
  it('is shown to every user', async () => {
    for (const login of [owner, admin, member])
      expect(await organization(login)).toEqual({
        organization_id: service.organizationId,
        name: 'Test organization',
        activated_at: null,
        has_logo: false,
        logo_media_type: null,
        second_factor_required_from: null,
      });
  });

  it('is activated once by an owner, also under 20 concurrent requests', async () => {
    expect((await activate(admin)).status).toBe(403);
    const entries = await auditedBy(service, async () => {
      const responses = await Promise.all(Array.from({ length: 20 }, () => activate()));
      for (const { status, body } of responses) expect([status, body]).toEqual([200, responses[0]?.body]);
      expect(responses[0]?.body['activated_at']).toMatch(/^\d{4}-.*Z$/);
      expect(await organization()).toEqual(responses[0]?.body);
      expect((await activate()).body).toEqual(responses[0]?.body);
    });
    expect(entries).toEqual(['account.activate success Test organization']);
  });
});

describe('The logo', () => {
  it('does not exist at first', async () => {
    const { status, body } = await service.request('/organization/logo', { login: member });
    expect([status, body]).toEqual([
      404,
      error('INVALID_REQUEST', 'NOT_FOUND', 'The organization has no logo.'),
    ]);
  });

  it.each([
    ['image/png', PNG],
    ['image/jpeg', JPEG],
    ['image/webp', WEBP],
  ])('may be %s and is returned byte for byte', async (mediaType, image) => {
    const { status, body } = await uploadLogo(image.toString('base64'), admin);
    expect([status, body]).toEqual([200, await organization()]);
    expect(body).toMatchObject({ has_logo: true, logo_media_type: mediaType });
    expect((await service.request('/organization/logo', { login: member })).status).toBe(200);
    const response = await fetch(`${service.baseUrl}/organization/logo`, {
      headers: { cookie: member.cookie },
    });
    expect(response.headers.get('content-type')).toBe(mediaType);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    expect(Buffer.from(await response.arrayBuffer())).toEqual(image);
  });

  it('is returned as bytes to a client that accepts no images', async () => {
    await uploadLogo(PNG.toString('base64'), admin);
    const typeFor = async (accept: string): Promise<string | null> => {
      const headers = { cookie: member.cookie, accept };
      return (await fetch(`${service.baseUrl}/organization/logo`, { headers })).headers.get('content-type');
    };
    expect(await typeFor('application/octet-stream')).toBe('application/octet-stream');
    expect(await typeFor('*/*')).toBe('image/png');
    expect(await typeFor('image/*, application/octet-stream;q=0.5')).toBe('image/png');
    expect(await typeFor('text/html')).toBe('image/png');
  });

  it('may have up to 256 KiB', async () => {
    expect((await uploadLogo(withLength(PNG, LARGEST))).status).toBe(200);
    const { status, body } = await uploadLogo(withLength(PNG, LARGEST + 1));
    expect([status, body]).toEqual([
      400,
      invalidField('The image field must not be greater than 262144 bytes.'),
    ]);
  });

  it.each<[what: string, message: string, image: unknown]>([
    ['an empty string', 'The image field is required.', ''],
    ['an object', 'The image field must be a string.', { data: 'iVBORw0KGgo=' }],
    ['a data URL', 'The image field must be base64.', 'data:image/png;base64,iVBORw0KGgo='],
    ['base64 without padding', 'The image field must be base64.', 'iVBORw0KGgo'],
    ['base64 with stray bits', 'The image field must be base64.', 'iVBORw0KGgp='],
    ['base64 with a space', 'The image field must be base64.', ' iVBORw0KGgo='],
    [
      'SVG',
      'The image field must be a PNG, JPEG or WebP image.',
      Buffer.from('<svg xmlns="…"/>').toString('base64'),
    ],
    ['GIF', 'The image field must be a PNG, JPEG or WebP image.', Buffer.from('GIF89a').toString('base64')],
    [
      'WAVE',
      'The image field must be a PNG, JPEG or WebP image.',
      Buffer.from('RIFF....WAVE').toString('base64'),
    ],
    [
      'a truncated PNG',
      'The image field must be a PNG, JPEG or WebP image.',
      PNG.subarray(0, 7).toString('base64'),
    ],
    [
      'a PNG behind other bytes',
      'The image field must be a PNG, JPEG or WebP image.',
      `PHN2Zz4${PNG.toString('base64').slice(7)}`,
    ],
  ])('is rejected if it is %s: %s', async (_what, message, image) => {
    const before = await organization();
    const { status, body } = await uploadLogo(image);
    expect([status, body]).toEqual([400, invalidField(message)]);
    expect(await organization()).toEqual(before);
  });

  it('is not visible to another organization', async () => {
    const { id } = await service.anotherOrganization();
    const otherOwner = await service.login('owner', id);
    await uploadLogo(PNG.toString('base64'));
    expect((await service.request('/organization/logo', { login: otherOwner })).status).toBe(404);
  });
});
