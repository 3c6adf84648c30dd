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
  it('lists domains in ASCII and lowercase, in alphabetical order', async () => {
    for (const domain of ['Zebra.example', 'bücher.example', 'a.zebra.example'])
      expect((await add(domain)).status).toBe(200);
    expect(await list()).toEqual(['a.zebra.example', 'xn--bcher-kva.example', 'zebra.example']);
  });

  it('rejects a domain that it contains, in any spelling', async () => {
    for (const domain of ['zebra.example', 'ZEBRA.EXAMPLE', 'xn--bcher-kva.example', 'BÜCHER.example']) {
      const { status, body } = await add(domain);
      expect([status, body]).toEqual([400, TAKEN]);
    }
  });

  it('adds a domain once for 20 concurrent requests', async () => {
    const entries = await auditedBy(service, async () => {
      const responses = await Promise.all(Array.from({ length: 20 }, () => add('concurrent.example')));
      expect(responses.map(({ status }) => status).toSorted()).toEqual([200, ...Array<number>(19).fill(400)]);
      for (const { body } of responses.filter(({ status }) => status === 400)) expect(body).toEqual(TAKEN);
    });
    expect(entries).toEqual(['domain.add success concurrent.example']);
  });

  it('removes a domain once for 20 concurrent requests', async () => {
    const { body } = await add('leaving.example');
    const entries = await auditedBy(service, async () => {
      const responses = await Promise.all(Array.from({ length: 20 }, () => remove(body['id'])));
      expect(responses.map(({ status }) => status).toSorted()).toEqual([200, ...Array<number>(19).fill(404)]);
      expect(responses.find(({ status }) => status === 200)?.body).toEqual(body);
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
  ])('rejects invalid input with "%s"', async (message, domain) => {
    const { status, body } = await add(domain);
    expect([status, body]).toEqual([400, invalidField(message)]);
  });

  it('accepts exactly 100 domains, also under concurrent requests', async () => {
    const { id } = await service.anotherOrganization();
    const otherOwner = await service.login('owner', id);
    await service.database.query(
      `INSERT INTO allowlisted_domain (id, organization_id, domain, created_at)
       SELECT gen_random_uuid(), $1, 'filler-' || n || '.example', now() FROM generate_series(1, 97) n`,
      [id],
    );
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => add(`rival-${index}.example`, otherOwner)),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(responses.find(({ status }) => status === 400)?.body).toEqual(
      invalidField('The allowlist already has the maximum of 100 domains.'),
    );
    expect(await list(otherOwner)).toHaveLength(100);
  });
});
