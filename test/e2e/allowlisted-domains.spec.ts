import { auditedBy } from '../support/audited.js';
import { invalidField, startTestApp, type Login, type TestApp } from '../support/test-app.js';

let service: TestApp;
let owner: Login;

beforeAll(async () => {
  service = await startTestApp({ DATABASE_CONNECT_TIMEOUT_MS: '10000' });
  owner = await service.login('owner');
});
afterAll(() => service.close());

const add = (domain: unknown, login = owner) =>
  service.request('/allowlisted-domains/create', { body: { domain }, login });
const remove = (id: unknown, login = owner) =>
  service.request(`/allowlisted-domains/${String(id)}`, { method: 'DELETE', login });
const list = async (login = owner): Promise<string[]> => {
  const { body } = await service.request<{ domain: string }[]>('/allowlisted-domains', { login });
  return body.map(({ domain }) => domain);
};
const TAKEN = invalidField('The domain has already been added.');

describe('The allowlist', () => {
  it('has domains in ASCII and lower case, in the order of the alphabet', async () => {
    for (const domain of ['Zebra.example', 'bücher.example', 'a.zebra.example'])
      expect((await add(domain)).status).toBe(200);
    expect(await list()).toEqual(['a.zebra.example', 'xn--bcher-kva.example', 'zebra.example']);
  });

  it('has no domain twice, however it is written', async () => {
    for (const domain of ['zebra.example', 'ZEBRA.EXAMPLE', 'xn--bcher-kva.example', 'BÜCHER.example']) {
      const { status, body } = await add(domain);
      expect([status, body]).toEqual([400, TAKEN]);
    }
  });

  it('gets a domain once from 20 rivals', async () => {
    const entries = await auditedBy(service, async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => add('rivals.example')));
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array<number>(19).fill(400)]);
      for (const { body } of answers.filter(({ status }) => status === 400)) expect(body).toEqual(TAKEN);
    });
    expect(entries).toEqual(['domain.add success rivals.example']);
  });

  it('loses a domain once to 20 rivals', async () => {
    const { body } = await add('leaving.example');
    const entries = await auditedBy(service, async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => remove(body['id'])));
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array<number>(19).fill(404)]);
      expect(answers.find(({ status }) => status === 200)?.body).toEqual(body);
    });
    expect(entries).toEqual(['domain.remove success leaving.example']);
    expect((await add('leaving.example')).status).toBe(200);
  });

  it.each([
    ['The domain field is required.', ' '],
    ['The domain field is required.', null],
    ['The domain field must be a string.', 1],
    ['The domain field must be a string.', ['example.com']],
    ['The domain field must not be greater than 253 characters.', `${'a.'.repeat(125)}example`],
    ['The domain field must be a domain name such as example.com.', 'localhost'],
    ['The domain field must be a domain name such as example.com.', 'https://example.com'],
    ['The domain field must be a domain name such as example.com.', '127.0.0.1'],
    ['The domain field must be a domain name such as example.com.', '*.example.com'],
    ['The domain field must be a domain name such as example.com.', 'a@example.com'],
    ['The domain field must be a domain name such as example.com.', 'example.com.'],
  ])('says "%s"', async (message, domain) => {
    const { status, body } = await add(domain);
    expect([status, body]).toEqual([400, invalidField(message)]);
  });

  it('has 100 domains at most, exactly, also for rivals', async () => {
    const { id } = await service.anotherOrganization();
    const stranger = await service.login('owner', id);
    await service.database.query(
      `INSERT INTO allowlisted_domain (id, organization_id, domain, created_at)
       SELECT gen_random_uuid(), $1, 'filler-' || n || '.example', now() FROM generate_series(1, 97) n`,
      [id],
    );
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => add(`rival-${index}.example`, stranger)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(answers.find(({ status }) => status === 400)?.body).toEqual(
      invalidField('The allowlist already has the maximum of 100 domains.'),
    );
    expect(await list(stranger)).toHaveLength(100);
  });
});
