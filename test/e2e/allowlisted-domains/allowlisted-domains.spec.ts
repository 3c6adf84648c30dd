import { auditedBy } from '../../support/logs/audited.js';
import { allowDomain, openPage, renewLogins, submitForm } from '../../support/pages/dashboard-forms.js';
import { useTestApp, useLogin } from '../../support/test-app.js';
import { addUser, auditOf } from '../../support/pages/dashboard-users.js';
import { Visitor, visitorWithRole } from '../../support/pages/visitor.js';

const service = useTestApp();
const owner = useLogin(service, 'owner');
beforeEach(() => renewLogins(service));

const PATH = '/dashboard/allowed-domains';
const add = (domain: string, login = owner) => submitForm(service, login, `${PATH}/new`, { domain });
const remove = (id: string) => submitForm(service, owner, `${PATH}/${id}/remove`);
const list = async (login = owner): Promise<string[]> => {
  const { text: page } = await openPage(service, login, PATH);
  const [, text = ''] = page.split('<tbody');
  return [...text.matchAll(/<tr[^>]*>\s*<t[dh][^>]*>([^<]+)<\/t[dh]>/g)].map(([, domain = '']) => domain);
};
const TAKEN = 'The domain has already been added.';

describe('The allowlist', () => {
  it('lists domains in ASCII and lowercase, in alphabetical order', async () => {
    for (const domain of ['Zebra.example', 'bücher.example', 'a.zebra.example'])
      expect((await add(domain)).status).toBe(303);
    expect(await list()).toEqual(['a.zebra.example', 'xn--bcher-kva.example', 'zebra.example']);
  });

  it('rejects a domain that it contains, in any spelling', async () => {
    for (const domain of ['zebra.example', 'ZEBRA.EXAMPLE', 'xn--bcher-kva.example', 'BÜCHER.example']) {
      const { status, problem } = await add(domain);
      expect([status, problem]).toEqual([400, TAKEN]);
    }
  });

  it('adds a domain once for 20 concurrent requests', async () => {
    const entries = await auditedBy(service, async () => {
      const responses = await Promise.all(Array.from({ length: 20 }, () => add('concurrent.example')));
      expect(responses.map(({ status }) => status).toSorted()).toEqual([303, ...Array<number>(19).fill(400)]);
      for (const { problem } of responses.filter(({ status }) => status === 400)) expect(problem).toBe(TAKEN);
    });
    expect(entries).toEqual(['domain.add success concurrent.example']);
  });

  it('removes a domain once for 20 concurrent requests', async () => {
    const id = await allowDomain(service, owner, 'leaving.example');
    const entries = await auditedBy(service, async () => {
      const responses = await Promise.all(Array.from({ length: 20 }, () => remove(id)));
      expect(responses.map(({ status }) => status).toSorted()).toEqual([303, ...Array<number>(19).fill(404)]);
    });
    expect(entries).toEqual(['domain.remove success leaving.example']);
    expect((await add('leaving.example')).status).toBe(303);
  });

  it.each([
    ['The “Domain” field is required.', ' '],
    ['The “Domain” field must not be greater than 253 characters.', `${'a.'.repeat(125)}example`],
    ['The “Domain” field must be a domain name such as example.com.', 'localhost'],
    ['The “Domain” field must be a domain name such as example.com.', 'https://example.com'],
    ['The “Domain” field must be a domain name such as example.com.', '127.0.0.1'],
    ['The “Domain” field must be a domain name such as example.com.', '*.example.com'],
    ['The “Domain” field must be a domain name such as example.com.', 'a@example.com'],
    ['The “Domain” field must be a domain name such as example.com.', 'example.com.'],
  ])('rejects invalid input with "%s"', async (message, domain) => {
    const { status, problem } = await add(domain);
    expect([status, problem]).toEqual([400, message]);
  });

  it('drops white space that was pasted', async () => {
    expect((await add(' pasted.example\u00A0')).status).toBe(303);
    expect((await add('pasted.example')).problem).toBe('The domain has already been added.');
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
    expect(responses.filter(({ status }) => status === 303)).toHaveLength(3);
    expect(responses.find(({ status }) => status === 400)?.problem).toBe(
      'The organization already has the maximum of 100 allowed domains.',
    );
    expect(await list(otherOwner)).toHaveLength(100);
  });
});

describe('The pages about allowed domains', () => {
  it('add and remove a domain', async () => {
    const { id } = await service.anotherOrganization();
    const user = await addUser(service, id);
    const visitor = new Visitor(service);
    await visitor.logIn(user.email, user.password);
    expect((await visitor.get(PATH)).text).toContain('All email domains are allowed');

    const refused = await visitor.fill(`${PATH}/new`, { domain: 'not a domain' });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('must be a domain name');
    expect(refused.text).toContain('value="not a domain"');

    await visitor.fill(`${PATH}/new`, { domain: 'another.example' });
    const added = await visitor.fill(`${PATH}/new`, { domain: 'example.com' });
    expect([added.status, added.location]).toEqual([303, `${PATH}?done=added`]);
    const list = await visitor.get(`${PATH}?done=added`);
    expect(list.text).toContain('The domain was added.');
    const [, [, removal = ''] = []] = [...list.text.matchAll(/href="([^"]+\/remove)"/g)];
    expect((await visitor.get(removal)).text).toContain('Remove example.com?');
    expect((await visitor.submit(removal)).location).toBe(`${PATH}?done=removed`);
    expect(await auditOf(service, user)).toEqual([
      'auth.login success',
      'domain.add success',
      'domain.add success',
      'domain.remove success',
    ]);
  });

  it('lead from single sign-on to the proof of the first domain', async () => {
    const { id } = await service.anotherOrganization();
    const visitor = await visitorWithRole(service, 'owner', id);
    const link = `${PATH}/new?purpose=proof`;
    expect((await visitor.get('/dashboard/single-sign-on')).text).toContain(`action="${PATH}/new"`);
    expect((await visitor.get(link)).text).toContain('name="purpose" value="proof"');
    const refused = await visitor.submit(`${PATH}/new`, { domain: 'not a domain', purpose: 'proof' });
    expect(refused.text).toContain('name="purpose" value="proof"');
    const added = await visitor.submit(`${PATH}/new`, { domain: 'proof.example', purpose: 'proof' });
    expect(added.location).toMatch(/^\/dashboard\/allowed-domains\/[\w-]+\/proof$/);
    expect((await visitor.get(added.location ?? '')).text).toContain('Prove that proof.example is yours');
    expect((await visitor.get('/dashboard/single-sign-on')).text).toContain('proof.example');
  });
});
