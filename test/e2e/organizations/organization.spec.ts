import { auditedBy } from '../../support/logs/audited.js';
import { renewLogins, submitFile, submitForm } from '../../support/pages/dashboard-forms.js';
import { PNG } from '../../support/documents/operations.js';
import { useTestApp, type Login, useLogin } from '../../support/test-app.js';

const LARGEST = 262_144;
const JPEG = Buffer.from('ffd8ffe000104a464946', 'hex');
const NOT_AN_IMAGE = 'The “Image” field must be a PNG, JPEG or WebP image.';
const WEBP = Buffer.from('524946461a00000057454250565038', 'hex');

const service = useTestApp();
const owner = useLogin(service, 'owner');
const admin = useLogin(service, 'admin');
const member = useLogin(service, 'member');
beforeEach(() => renewLogins(service));

const PATH = '/dashboard/organization';
/** Returns a hash of the row, because comparing two images takes Jest a second. */
const organization = async (): Promise<unknown> => {
  const [row] = await service.database.query(
    'SELECT activated_at, md5(organization::text) AS hash FROM organization WHERE id = $1',
    [owner.organizationId],
  );
  return row;
};
const activate = (login = owner) => submitForm(service, login, `${PATH}/activate`);
const uploadLogo = (image: Buffer, login = owner) =>
  submitFile(service, login, `${PATH}/logo/change`, { image });
const withLength = (beginning: Buffer, length: number): Buffer =>
  Buffer.concat([beginning, Buffer.alloc(length - beginning.length, 7)]);
const fetchLogo = ({ cookie }: Login): Promise<Response> =>
  fetch(`${service.baseUrl}${PATH}/logo`, { headers: { cookie } });

describe('The organization', () => {
  it('is activated once by an owner, also under 20 concurrent requests', async () => {
    expect((await activate(admin)).status).toBe(403);
    const entries = await auditedBy(service, async () => {
      const responses = await Promise.all(Array.from({ length: 20 }, () => activate()));
      for (const { status } of responses) expect(status).toBe(303);
      const activated = await organization();
      expect(activated).toMatchObject({ activated_at: expect.any(Date) });
      await activate();
      expect(await organization()).toEqual(activated);
    });
    expect(entries).toEqual(['account.activate success Test organization']);
  });
});

describe('The logo', () => {
  it('does not exist at first', async () => {
    expect((await fetchLogo(member)).status).toBe(404);
  });

  it.each([
    ['image/png', PNG],
    ['image/jpeg', JPEG],
    ['image/webp', WEBP],
  ])('may be %s and is returned byte for byte', async (mediaType, image) => {
    expect((await uploadLogo(image, admin)).location).toBe(`${PATH}?done=logo`);
    const response = await fetchLogo(member);
    expect(response.headers.get('content-type')).toBe(mediaType);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    expect(Buffer.from(await response.arrayBuffer())).toEqual(image);
  });

  it('may have up to 256 KiB', async () => {
    expect((await uploadLogo(withLength(PNG, LARGEST))).status).toBe(303);
    const { status, problem } = await uploadLogo(withLength(PNG, LARGEST + 1));
    expect([status, problem]).toEqual([400, 'The “Image” field must not be greater than 256 KiB.']);
  });

  it.each<[what: string, message: string, image: Buffer]>([
    ['empty', 'The “Image” field is required.', Buffer.alloc(0)],
    ['SVG', NOT_AN_IMAGE, Buffer.from('<svg xmlns="…"/>')],
    ['GIF', NOT_AN_IMAGE, Buffer.from('GIF89a')],
    ['WAVE', NOT_AN_IMAGE, Buffer.from('RIFF....WAVE')],
    ['a truncated PNG', NOT_AN_IMAGE, PNG.subarray(0, 7)],
    ['a PNG behind other bytes', NOT_AN_IMAGE, Buffer.concat([Buffer.from('<svg>'), PNG])],
  ])('is rejected if it is %s: %s', async (_what, message, image) => {
    const before = await organization();
    const { status, problem } = await uploadLogo(image);
    expect([status, problem]).toEqual([400, message]);
    expect(await organization()).toEqual(before);
  });

  it('is changed together with the audit log, or not at all, and denied attempts are recorded', async () => {
    const before = await organization();
    {
      await using _table = await service.database.hide('audit_log');
      expect((await uploadLogo(PNG)).status).toBe(500);
    }
    expect(await organization()).toEqual(before);
    const entries = await auditedBy(service, async () => {
      expect((await uploadLogo(PNG, admin)).status).toBe(303);
      expect((await uploadLogo(PNG, member)).status).toBe(403);
    });
    expect(entries).toEqual([
      'account.logo_update success Test organization',
      'account.logo_update denied null',
    ]);
  });

  it('is not visible to another organization', async () => {
    const { id } = await service.anotherOrganization();
    await uploadLogo(PNG);
    expect((await fetchLogo(await service.login('owner', id))).status).toBe(404);
  });
});
