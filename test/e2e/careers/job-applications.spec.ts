import { DAY, MINUTE } from '../../../src/infrastructure/time/index.js';
import { ExpiryJob } from '../../../src/infrastructure/database/index.js';
import { moveClock } from '../../support/clock.js';
import { SUBMIT_JOB_APPLICATION } from '../../support/documents/operations.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { error, invalidField, startTestApp, useTestApp, type TestApp } from '../../support/test-app.js';

const { path: PATH, body: COMPLETE } = SUBMIT_JOB_APPLICATION;
const SELECTED_ROLE =
  'The selected role is invalid. Allowed values: product_engineer, ios_engineer, android_engineer, infrastructure_engineer, senior_product_manager.';
const ALL_MISSING =
  'The role, full name, email, resume url, years experience, authorized to work, onsite nyc, github url (or linkedin url), and exceptional at fields are required.';

const submitTo = (service: TestApp, body: unknown, headers: Record<string, string> = {}) =>
  service.request<{ id: string; received_at: string }>(PATH, { body, headers });

const forwardedFor = (addresses: string) => ({ 'x-forwarded-for': addresses });

async function countApplications(service: TestApp): Promise<number> {
  const [row] = await service.database.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM job_application',
  );
  return row?.count ?? 0;
}

describe('POST /apply', () => {
  const service = useTestApp({ APPLICATIONS_PER_HOUR: '1000000' });

  const submit = (body: unknown, headers?: Record<string, string>) => submitTo(service, body, headers);
  const submitWith = (change: Record<string, unknown>) => submit({ ...COMPLETE, ...change });

  async function rowOf(id: string): Promise<Record<string, unknown> | undefined> {
    const [row] = await service.database.query('SELECT * FROM job_application WHERE id = $1', [id]);
    return row;
  }

  it('accepts the longest text with each character as an escape', async () => {
    const escaped = JSON.stringify({ ...COMPLETE, exceptional_at: '😀'.repeat(10_000) }).replaceAll(
      /[\ud800-\udfff]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16)}`,
    );
    expect(escaped.length).toBeGreaterThan(120_000);
    expect(await submit(escaped)).toMatchObject({ status: 200 });
  });

  it('stores all fields', async () => {
    const before = Date.now();
    const { status, body } = await submit(COMPLETE);
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['id', 'received_at']);
    expect(body.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(body.received_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.parse(body.received_at)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(body.received_at)).toBeLessThanOrEqual(Date.now());
    expect(await rowOf(body.id)).toEqual({
      id: body.id,
      received_at: new Date(body.received_at),
      ...COMPLETE,
    });
  });

  it.each([['github_url'], ['linkedin_url']])(
    'accepts only the required fields, with %s',
    async (profile) => {
      const url = 'https://example.com/profile';
      const {
        phone_number: _1,
        github_url: _2,
        linkedin_url: _3,
        twitter_url: _4,
        website: _5,
        ...required
      } = COMPLETE;
      const { status, body } = await submit({ ...required, [profile]: url });
      expect(status).toBe(200);
      expect(await rowOf(body.id)).toMatchObject({
        ...required,
        github_url: null,
        linkedin_url: null,
        phone_number: null,
        twitter_url: null,
        website: null,
        [profile]: url,
      });
    },
  );

  it.each([[null], [''], ['   ']])('treats %j in an optional field as absent', async (nothing) => {
    const { status, body } = await submitWith({
      phone_number: nothing,
      github_url: nothing,
      twitter_url: nothing,
      website: nothing,
    });
    expect(status).toBe(200);
    expect(await rowOf(body.id)).toMatchObject({
      phone_number: null,
      github_url: null,
      twitter_url: null,
      website: null,
    });
  });

  const REQUIRED = [
    'role',
    'full_name',
    'email',
    'resume_url',
    'years_experience',
    'authorized_to_work',
    'onsite_nyc',
    'exceptional_at',
  ];

  it.each(REQUIRED)('requires %s', async (field) => {
    const before = await countApplications(service);
    for (const nothing of [undefined, null, '', ' \n\t']) {
      const { status, body } = await submitWith({ [field]: nothing });
      expect(status).toBe(400);
      expect(body).toEqual(invalidField(`The ${field.replaceAll('_', ' ')} field is required.`));
    }
    expect(await countApplications(service)).toBe(before);
  });

  it.each([[undefined], [null], ['']])('requires a profile if both are %j', async (nothing) => {
    const { status, body } = await submitWith({ github_url: nothing, linkedin_url: nothing });
    expect(status).toBe(400);
    expect(body).toEqual(
      invalidField('The github url field is required when the linkedin url field is not present.'),
    );
  });

  it('validates a profile even if the other one is valid', async () => {
    const github = await submitWith({ github_url: 'nonsense' });
    expect([github.status, github.body]).toEqual([
      400,
      invalidField('The github url field must be a valid http or https URL.'),
    ]);
    const linkedin = await submitWith({ linkedin_url: 'nonsense' });
    expect([linkedin.status, linkedin.body]).toEqual([
      400,
      invalidField('The linkedin url field must be a valid http or https URL.'),
    ]);
  });

  it.each([
    'product_engineer',
    'ios_engineer',
    'android_engineer',
    'infrastructure_engineer',
    'senior_product_manager',
  ])('accepts the role %s', async (role) => {
    expect((await submitWith({ role })).status).toBe(200);
  });

  it.each([['PRODUCT_ENGINEER'], ['engineer'], [7], [true], [['product_engineer']], [{}], ['constructor']])(
    'rejects the role %j',
    async (role) => {
      const { status, body } = await submitWith({ role });
      expect([status, body]).toEqual([400, invalidField(SELECTED_ROLE)]);
    },
  );

  describe('resume_url', () => {
    it.each([
      'http://127.0.0.1/ada.pdf',
      'https://127.0.0.1:8443/ada.pdf',
      'http://10.1.2.3/ada.pdf',
      'http://169.254.169.254/latest/meta-data',
      'http://[::1]/ada.pdf',
      'http://[::ffff:10.1.2.3]/ada.pdf',
      'http://[fd00::1]/ada.pdf',
    ])('rejects the private address in %s', async (resume_url) => {
      const { status, body } = await submitWith({ resume_url });
      expect([status, body]).toEqual([
        400,
        invalidField('The resume url field must be a public URL: its address is private or reserved.'),
      ]);
    });

    it.each(['https://8.8.8.8/ada.pdf', 'https://[2606:4700::1111]/ada.pdf'])(
      'accepts the public address in %s',
      async (resume_url) => expect((await submitWith({ resume_url })).status).toBe(200),
    );
  });

  const URL_FIELDS = ['resume_url', 'github_url', 'linkedin_url', 'twitter_url', 'website'];

  describe.each(URL_FIELDS)('%s', (field) => {
    const words = field.replaceAll('_', ' ');

    it.each([
      ['http://example.com'],
      ['HTTPS://Example.COM/Ada.PDF'],
      ['https://drive.google.com/file/d/1aB_-c/view?usp=sharing#page=1'],
      ['https://example.com:8443/a%20b'],
      ['https://my_files.example.com/cv.pdf'],
      ['https://bücher.example/résumé.pdf'],
    ])('accepts %s', async (url) => {
      const { status, body } = await submitWith({ [field]: url });
      expect(status).toBe(200);
      expect((await rowOf(body.id))?.[field]).toBe(url);
    });

    it.each([
      ['ftp://example.com/a.pdf'],
      ['javascript:alert(1)'],
      ['data:application/pdf;base64,AAAA'],
      ['file:///etc/passwd'],
      ['example.com/a.pdf'],
      ['//example.com/a.pdf'],
      ['https://'],
      ['https:///a.pdf'],
      ['https://exa mple.com/'],
      ['https://example.com/a b'],
      ['https://example.com/<script>'],
    ])('rejects %s', async (url) => {
      const { status, body } = await submitWith({ [field]: url });
      expect([status, body]).toEqual([
        400,
        invalidField(`The ${words} field must be a valid http or https URL.`),
      ]);
    });

    it('accepts at most 2083 code points', async () => {
      for (const letter of ['a', '😀']) {
        const longest = `https://example.com/${letter.repeat(2063)}`;
        const { status, body } = await submitWith({ [field]: longest });
        expect(status).toBe(200);
        expect((await rowOf(body.id))?.[field] === longest).toBe(true);
        const longer = await submitWith({ [field]: longest + letter });
        expect([longer.status, longer.body]).toEqual([
          400,
          invalidField(`The ${words} field must not be greater than 2083 characters.`),
        ]);
      }
    });

    it('rejects values that are not text or cannot be stored', async () => {
      for (const value of [7, true, ['https://example.com'], { url: 'https://example.com' }]) {
        const { status, body } = await submitWith({ [field]: value });
        expect([status, body]).toEqual([400, invalidField(`The ${words} field must be a string.`)]);
      }
      const { status, body } = await submitWith({ [field]: 'https://example.com/\0' });
      expect([status, body]).toEqual([
        400,
        invalidField(`The ${words} field must not contain null characters or unpaired surrogates.`),
      ]);
    });
  });

  it.each([
    ['full_name', 256],
    ['exceptional_at', 10_000],
  ])('accepts a %s of at most %i code points', async (field, length) => {
    for (const letter of ['a', '😀']) {
      const { status, body } = await submitWith({ [field]: letter.repeat(length) });
      expect(status).toBe(200);
      expect((await rowOf(body.id))?.[field] === letter.repeat(length)).toBe(true);
      const longer = await submitWith({ [field]: letter.repeat(length + 1) });
      expect([longer.status, longer.body]).toEqual([
        400,
        invalidField(
          `The ${field.replaceAll('_', ' ')} field must not be greater than ${length} characters.`,
        ),
      ]);
    }
  });

  it.each([['full_name'], ['exceptional_at'], ['email']])('rejects a %s that is not text', async (field) => {
    const words = field.replaceAll('_', ' ');
    for (const value of [7, false, [], {}, ['a']]) {
      const { status, body } = await submitWith({ [field]: value });
      expect([status, body]).toEqual([400, invalidField(`The ${words} field must be a string.`)]);
    }
    const { status, body } = await submitWith({ [field]: 'a\0b' });
    expect([status, body]).toEqual([
      400,
      invalidField(`The ${words} field must not contain null characters or unpaired surrogates.`),
    ]);
  });

  const domainOf = (length: number) => {
    const labels = `${'b'.repeat(63)}.${'b'.repeat(63)}.`;
    return `${labels}${'b'.repeat(length - labels.length - '.com'.length)}.com`;
  };

  it.each([
    ['ada@example.com'],
    ['ada+jobs@mail.example.co.uk'],
    ["o'neil_x.y@example.com"],
    [`${'a'.repeat(64)}@${domainOf(189)}`],
  ])('accepts the email address %s', async (email) => {
    const { status, body } = await submitWith({ email });
    expect(status).toBe(200);
    expect((await rowOf(body.id))?.['email'] === email).toBe(true);
  });

  it.each([
    ['ada'],
    ['@example.com'],
    ['ada@'],
    ['ada@example'],
    ['ada@@example.com'],
    ['ada@exa mple.com'],
    ['Ada <ada@example.com>'],
    ['ada@example.com, eve@example.com'],
    ['ada@example.com\r\nbcc: eve@example.com'],
    ['.ada@example.com'],
  ])('rejects the email address %j', async (email) => {
    const { status, body } = await submitWith({ email });
    expect([status, body]).toEqual([400, invalidField('The email field must be a valid email address.')]);
  });

  it('rejects an email address of 255 characters', async () => {
    const { status, body } = await submitWith({ email: `${'a'.repeat(64)}@${domainOf(190)}` });
    expect([status, body]).toEqual([
      400,
      invalidField('The email field must not be greater than 254 characters.'),
    ]);
  });

  it.each([[0], [7.0], [2_147_483_647]])('accepts %i years of experience', async (years_experience) => {
    const { status, body } = await submitWith({ years_experience });
    expect(status).toBe(200);
    expect(await rowOf(body.id)).toMatchObject({ years_experience });
  });

  it.each([
    [-1, 'must be at least 0.'],
    [2_147_483_648, 'must not be greater than 2147483647.'],
    [1e300, 'must not be greater than 2147483647.'],
    [1.5, 'must be an integer.'],
    ['7', 'must be an integer.'],
    [true, 'must be an integer.'],
    [{}, 'must be an integer.'],
    [[7], 'must be an integer.'],
  ])('rejects %j years of experience', async (years_experience, problem) => {
    const { status, body } = await submitWith({ years_experience });
    expect([status, body]).toEqual([400, invalidField(`The years experience field ${problem}`)]);
  });

  it.each(['authorized_to_work', 'onsite_nyc'])('accepts only true and false for %s', async (field) => {
    for (const value of [true, false]) {
      const { status, body } = await submitWith({ [field]: value });
      expect(status).toBe(200);
      expect((await rowOf(body.id))?.[field]).toBe(value);
    }
    for (const value of ['true', 'yes', 1, 0, {}, [true]]) {
      const { status, body } = await submitWith({ [field]: value });
      expect([status, body]).toEqual([
        400,
        invalidField(`The ${field.replaceAll('_', ' ')} field must be true or false.`),
      ]);
    }
  });

  it.each([
    ['0049301234567'],
    ['+0123456789'],
    ['+1234567890123456'],
    ['+44 20 7183 8750'],
    ['442071838750'],
    ['+'],
    [442071838750],
    [{}],
  ])('rejects the phone number %j', async (phone_number) => {
    const { status, body } = await submitWith({ phone_number });
    expect([status, body]).toEqual([
      400,
      invalidField('The phone number format is invalid. Use the format +12125550123.'),
    ]);
  });

  it('reports only the first problem, in the order of the fields', async () => {
    const { body } = await submitWith({ role: 'x', full_name: 7, years_experience: 'x' });
    expect(body).toEqual(invalidField(SELECTED_ROLE));
    const { body: second } = await submitWith({ years_experience: -1, onsite_nyc: 'x', exceptional_at: 1 });
    expect(second).toEqual(invalidField('The years experience field must be at least 0.'));
  });

  it.each([
    ['not json', 'The request body is not valid JSON.'],
    ['[]', 'The request body must be a JSON object.'],
    ['{}', ALL_MISSING],
    ['', ALL_MISSING],
  ])('rejects the body %j', async (text, message) => {
    const { status, body } = await submit(text);
    expect([status, body]).toEqual([400, invalidField(message)]);
  });

  it('names all missing fields at once', async () => {
    const missing = { full_name: null, email: ' ', twitter_url: undefined };
    for (const [change, message] of [
      [missing, 'The full name and email fields are required.'],
      [
        { ...missing, github_url: undefined, linkedin_url: null },
        'The full name, email, and github url (or linkedin url) fields are required.',
      ],
      [{ ...missing, resume_url: 7 }, 'The full name and email fields are required.'],
      // The first problem decides.
      [{ ...missing, role: 'x' }, SELECTED_ROLE],
      [{ email: undefined, website: 'x' }, 'The email field is required.'],
    ] as const) {
      const { status, body } = await submitWith(change);
      expect([status, body]).toEqual([400, invalidField(message)]);
    }
  });

  it.each([
    ['githubUrl', 'github_url'],
    ['linkedin-url', 'linkedin_url'],
    ['phone_nubmer', 'phone_number'],
    ['Website', 'website'],
  ])('refuses %s and suggests %s', async (name, field) => {
    const { github_url, linkedin_url, phone_number: _1, website: _2, ...others } = COMPLETE;
    const profile = field === 'github_url' ? { linkedin_url } : { github_url };
    const { status, body } = await submit({ ...others, ...profile, [name]: 'https://example.com/ada' });
    expect([status, body]).toEqual([
      400,
      invalidField(`The field ${name} is not known. Did you mean ${field}?`),
    ]);
  });

  it('ignores the Authorization header', async () => {
    expect((await submit(COMPLETE, { authorization: 'Basic nonsense' })).status).toBe(200);
  });

  it('deletes an application after a year', async () => {
    await service.database.query('DELETE FROM job_application');
    const retention = service.app.get(ExpiryJob);
    const countAfter = async (milliseconds: number): Promise<number> => {
      {
        using _clock = moveClock(service, milliseconds);
        await retention.run();
      }
      return countApplications(service);
    };
    {
      using _clock = moveClock(service, -DAY);
      await submit(COMPLETE);
    }
    await submit(COMPLETE);
    expect(await countAfter(364 * DAY - MINUTE)).toBe(2);
    expect(await countAfter(364 * DAY + MINUTE)).toBe(1);
    expect(await countAfter(365 * DAY - MINUTE)).toBe(1);
    expect(await countAfter(365 * DAY + MINUTE)).toBe(0);
  });
});

describe('Retention of job applications', () => {
  it('follows APPLICATION_RETENTION_DAYS', async () => {
    await using service = await startTestApp({ APPLICATION_RETENTION_DAYS: '2' });

    for (const age of [3 * DAY, DAY]) {
      using _clock = moveClock(service, -age);
      expect((await submitTo(service, COMPLETE)).status).toBe(200);
    }
    await service.app.get(ExpiryJob).run();
    expect(await countApplications(service)).toBe(1);
  });
});

describe('Rate limit of job applications', () => {
  let service: TestApp;

  beforeEach(async () => {
    service = await startTestApp();
  });
  afterEach(() => service.close());

  async function expectRefused(headers?: Record<string, string>): Promise<void> {
    const response = await submitTo(service, COMPLETE, headers);
    expect(response.status).toBe(429);
    const retryAfter = Number(response.headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThanOrEqual(1);
    expect(retryAfter).toBeLessThanOrEqual(3_600);
    expect(response.body).toEqual({
      ...error(
        'RATE_LIMIT_ERROR',
        'RATE_LIMIT_EXCEEDED',
        'Too many requests. Retry after the time in the Retry-After header.',
      ),
      retry_after: retryAfter,
    });
  }

  it('allows 30 requests per hour and IP address, including rejected ones', async () => {
    const bodies = [COMPLETE, {}, 'not json', { ...COMPLETE, email: 'x' }, '"large"'.repeat(90_000)];
    const statuses = new Set<number>();
    for (let index = 0; index < 30; index += 1) {
      statuses.add((await submitTo(service, bodies[index % bodies.length])).status);
    }
    expect([...statuses].toSorted()).toEqual([200, 400, 413]);
    const before = await countApplications(service);
    expect(before).toBe(6);
    await expectRefused();
    expect(await countApplications(service)).toBe(before);
    // The rate limit is checked before the body.
    expect((await submitTo(service, 'not json')).status).toBe(429);
    // Without a trusted proxy, clients can forge the header.
    await expectRefused(forwardedFor('192.0.2.1'));
  });

  it('accepts exactly 30 of 60 concurrent requests', async () => {
    const responses = await Promise.all(Array.from({ length: 60 }, () => submitTo(service, COMPLETE)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(30);
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(30);
    expect(await countApplications(service)).toBe(30);
  });
});

describe('Rate limit of job applications behind a proxy', () => {
  const service = useTestApp({ TRUSTED_PROXY_HOPS: '2', APPLICATIONS_PER_HOUR: '2' });

  async function statusFrom(addresses: string): Promise<number> {
    return (await submitTo(service, {}, forwardedFor(addresses))).status;
  }

  it('counts each IP address separately', async () => {
    const inner = '198.51.100.7';
    expect(await statusFrom(`192.0.2.1, ${inner}`)).toBe(400);
    expect(await statusFrom(`192.0.2.1, ${inner}`)).toBe(400);
    expect(await statusFrom(`192.0.2.1, ${inner}`)).toBe(429);
    expect(await statusFrom(`192.0.2.2, ${inner}`)).toBe(400);
  });

  it('uses only addresses from trusted proxies', async () => {
    const inner = '198.51.100.7';
    for (const spoofed of ['203.0.113.1', '203.0.113.2', '203.0.113.3, 203.0.113.4']) {
      await statusFrom(`${spoofed}, 192.0.2.9, ${inner}`);
    }
    expect(await statusFrom(`203.0.113.5, 192.0.2.9, ${inner}`)).toBe(429);
    expect(await statusFrom(`203.0.113.1, ${inner}`)).toBe(400);
  });

  it('counts the addresses of an IPv6 /64 network together', async () => {
    const [first, last, next] = ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:3::1'];
    const statuses = [];
    for (const address of [first, last, first, last, next]) {
      statuses.push(await statusFrom(`${address}, 198.51.100.7`));
    }
    expect(statuses).toEqual([400, 400, 429, 429, 400]);
  });

  // `request-origin.spec.ts` has a table of all spellings.
  it('counts every spelling of an address together, and all that is no address as the proxy', async () => {
    for (const spellings of [
      ['192.0.2.60:50001', '192.0.2.60:50002', '192.0.2.60', '[::ffff:192.0.2.60]:7', '"192.0.2.60:50003"'],
      ['[2001:db8:60::1]:443', '[2001:db8:60::1]:444', '2001:db8:60::1%eth0', '2001:DB8:60::1'],
      ['unknown', '_hidden', '_x1', 'for=192.0.2.61', 'a'.repeat(500), 'b'.repeat(500)],
    ]) {
      const statuses = [];
      for (const [index, spelling] of spellings.entries()) {
        const headers = {
          ...forwardedFor(`192.0.2.${100 + index}, ${spelling}, 198.51.100.7`),
          forwarded: `for=192.0.2.${index}`,
        };
        statuses.push((await submitTo(service, {}, headers)).status);
      }
      expect(statuses).toEqual(spellings.map((_, index) => (index < 2 ? 400 : 429)));
    }
  });
});

// Data that identifies an applicant must never be logged, not even for a failure.
rememberSecret(String(COMPLETE['email']), String(COMPLETE['full_name']));
