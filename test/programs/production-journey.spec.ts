import { randomBytes, randomInt } from 'node:crypto';
import { join } from 'node:path';
import { Program } from '../support/programs/program.js';
import { startProductionService, type ProductionService } from '../support/programs/production-service.js';
import { describeWithPython, PYTHON_CLIENTS } from '../support/agents/python-agents.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { NETFLIX } from '../support/merchants/sign-in-links.js';
import { Visitor } from '../support/pages/visitor.js';

const GATEWAY = join(import.meta.dirname, '..', '..', 'examples', 'merchant-gateway', 'server.mjs');

describeWithPython('The journey of an agent in production', () => {
  let service: ProductionService;

  beforeAll(async () => {
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    rememberSecret(secret);
    const environment = { MERCHANT_GATEWAY_SECRET: secret, PORT: '0' };
    const gateway = new Program(GATEWAY, { environment });
    const [, url = ''] = await gateway.waitForOutput(/listens on (\S+)/);
    service = await startProductionService({ MERCHANT_GATEWAY_URL: url, MERCHANT_GATEWAY_SECRET: secret });
  });
  afterAll(() => service.close());

  it.each(Object.entries(PYTHON_CLIENTS))(
    'leads from a token to a connected account, and shows that the merchant ends the sign-in (Python, %s)',
    async (revision, connect) => {
      const user = { external_user_id: `user of ${revision}` };
      const phone_number = `+1212555${randomInt(1_000, 9_999)}`;
      rememberSecret(phone_number);
      const { token } = await service.request<{ token: string }>('/mcp/tokens/create', {
        ...user,
        phone_number,
      });
      rememberSecret(token);
      const agent = await connect(service.baseUrl, token);
      expect(agent.revision).toBe(revision);
      expect(await agent.tools()).toContain('create_sign_in_link');
      expect(await agent.result('get_connection_info')).toMatchObject({
        environment: 'production',
        can_create_sign_in_links: true,
      });
      expect(await agent.result('search_merchants', { query: 'netflix' })).toMatchObject({
        merchants: [{ ...NETFLIX, can_sign_in: true }],
      });

      const link = await agent.result('create_sign_in_link', { merchant_id: NETFLIX.id });
      expect(link).toMatchObject({ status: 'pending', merchant: NETFLIX });
      expect(link).not.toHaveProperty('url');
      const { link_id } = link;
      const path = await service.linkSentTo(phone_number);
      const visitor = new Visitor(service);
      await visitor.fill(path, { action: 'sign_in', user_name: 'user_otp', password: 'pass_good' });
      expect((await visitor.get(path)).text).toContain('Enter the code from Netflix');
      expect(await agent.result('get_sign_in_link', { link_id })).toMatchObject({ status: 'pending' });
      await visitor.submit(path, { action: 'code', code: '123456' });
      expect(await agent.result('get_sign_in_link', { link_id })).toMatchObject({ status: 'completed' });
      const accounts = () => agent.result('list_merchant_accounts');
      expect(await accounts()).toMatchObject({ accounts: [{ merchant: NETFLIX, state: 'connected' }] });

      const created = await service.commands.run(
        'service-token create --name Journey --scope events:publish',
      );
      const serviceToken = (JSON.parse(created.output) as { token: string }).token;
      rememberSecret(serviceToken);
      const event = {
        ...user,
        client_id: service.clientId,
        event: 'ACCOUNT_LOGIN_REQUIRED',
        merchant_id: NETFLIX.id,
      };
      await service.request('/events', event, serviceToken);
      expect(await accounts()).toMatchObject({ accounts: [{ merchant: NETFLIX, state: 'disconnected' }] });
      await agent.close();
    },
  );
});
