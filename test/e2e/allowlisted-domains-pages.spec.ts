import { addUser, auditOf } from '../support/dashboard-users.js';
import { useTestApp } from '../support/test-app.js';
import { Visitor, visitorWithRole } from '../support/visitor.js';

const PATH = '/dashboard/allowed-domains';

describe('The pages about allowed domains', () => {
  const service = useTestApp();

  it('add and remove a domain', async () => {
    const user = await addUser(service);
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
    expect((await visitor.get('/dashboard/single-sign-on')).text).toContain(`href="${link}"`);
    expect((await visitor.get(link)).text).toContain('name="purpose" value="proof"');
    const refused = await visitor.submit(`${PATH}/new`, { domain: 'not a domain', purpose: 'proof' });
    expect(refused.text).toContain('name="purpose" value="proof"');
    const added = await visitor.submit(`${PATH}/new`, { domain: 'proof.example', purpose: 'proof' });
    expect(added.location).toMatch(/^\/dashboard\/allowed-domains\/[\w-]+\/proof$/);
    expect((await visitor.get(added.location ?? '')).text).toContain('Prove that proof.example is yours');
    const { text } = await visitor.get('/dashboard/single-sign-on');
    expect([text.includes(`href="${PATH}"`), text.includes(link)]).toEqual([true, false]);
  });
});
