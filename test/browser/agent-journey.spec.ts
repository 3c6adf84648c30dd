import { CLIENTS, mcpToken } from '../support/agents/agents.js';
import { describeInBrowser, waitForHeading } from '../support/pages/browser.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { useTestApp } from '../support/test-app.js';
import { useReceiver } from '../support/webhooks/webhook-receiver.js';

const NETFLIX = { id: 16, name: 'Netflix' };

interface SignInLink {
  readonly link_id: string;
  readonly status: string;
  readonly url: string;
}

describeInBrowser('The journey of an agent in the sandbox', (windows) => {
  const service = useTestApp({ WEBHOOK_TARGETS: 'any' }, { backgroundWork: true });
  const receiver = useReceiver();

  beforeAll(async () => {
    const body = { environment: 'development', url: `${receiver.url}/hook` };
    const login = await service.login('owner');
    expect((await service.request('/webhook-endpoints/create', { body, login })).status).toBe(200);
  });

  it.each(Object.entries(CLIENTS))(
    'leads from a token to a connected account (%s)',
    async (name, connect) => {
      receiver.arrivals.length = 0;
      const user = `user of ${name}`;
      const detected = { external_user_id: user, merchants: [NETFLIX.name] };
      await service.request('/development/detected-accounts', { body: detected, as: service.development });
      const agent = await connect(service.baseUrl, await mcpToken(service, user));

      expect(await agent.result('search_detected_accounts', { names: ['netflix'] })).toMatchObject({
        results: [{ name: 'netflix', detected: true }],
      });
      const { merchants } = await agent.result<{ merchants: object[] }>('search_merchants', {
        query: 'netflix',
      });
      expect(merchants).toMatchObject([NETFLIX]);
      const link = await agent.result<SignInLink>('create_sign_in_link', { merchant_id: NETFLIX.id });
      rememberSecret(link.url.slice(link.url.lastIndexOf('/') + 1));
      expect(link).toMatchObject({ status: 'pending', merchant: NETFLIX, phone_number: '+1 *** *** 0123' });
      expect(await agent.result('list_merchant_accounts')).toEqual({ accounts: [], next_cursor: null });

      const page = await windows.open(service.baseUrl);
      await page.goto(link.url);
      await page.getByLabel('Your Netflix user name or email address').fill('user_good');
      await page.getByLabel('Your Netflix password').fill('pass_good');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await waitForHeading(page, 'You are signed in');

      const arrivals = await receiver.arrived(2);
      expect(arrivals.map(({ event }) => event).toSorted(byName)).toMatchObject([
        { event: 'AUTHENTICATED', external_user_id: user, merchant: NETFLIX, session_id: expect.any(String) },
        { event: 'NEW_DETECTED_ACCOUNTS_AVAILABLE', external_user_id: user },
      ]);
      const found = await agent.result<SignInLink>('get_sign_in_link', { link_id: link.link_id });
      expect(found).toMatchObject({ link_id: link.link_id, status: 'completed' });
      expect(await agent.result('list_merchant_accounts')).toMatchObject({
        accounts: [{ merchant: NETFLIX, state: 'connected' }],
      });
      await agent.close();
    },
  );

  it('ends for the agent if it cancels the link, which only its own user’s agents can see', async () => {
    const [connect] = Object.values(CLIENTS);
    const agent = await connect!(service.baseUrl, await mcpToken(service, 'undecided'));
    const stranger = await connect!(service.baseUrl, await mcpToken(service, 'stranger'));
    const link = await agent.result<SignInLink>('create_sign_in_link', { merchant_id: NETFLIX.id });
    rememberSecret(link.url.slice(link.url.lastIndexOf('/') + 1));
    const { link_id } = link;
    for (const tool of ['get_sign_in_link', 'cancel_sign_in_link']) {
      expect(await stranger.call(tool, { link_id })).toMatchObject({
        isError: true,
        content: { error_code: 'NOT_FOUND' },
      });
    }
    for (const attempt of [1, 2]) {
      expect([attempt, await agent.result('cancel_sign_in_link', { link_id })]).toMatchObject([
        attempt,
        { link_id, status: 'cancelled' },
      ]);
    }
    const page = await windows.open(service.baseUrl);
    await page.goto(link.url);
    await waitForHeading(page, 'This link was cancelled');
    await agent.close();
    await stranger.close();
  });

  it('does not lead to a link in production, where merchants are not available yet', async () => {
    const [connect] = Object.values(CLIENTS);
    const agent = await connect!(
      service.baseUrl,
      await mcpToken(service, 'live', { as: service.production }),
    );
    expect(await agent.call('create_sign_in_link', { merchant_id: NETFLIX.id })).toMatchObject({
      isError: true,
      content: { error_type: 'MERCHANT_ERROR', error_code: 'MERCHANT_UNAVAILABLE' },
    });
    await agent.close();
  });
});

const byName = (one: Readonly<Record<string, unknown>>, other: Readonly<Record<string, unknown>>): number =>
  String(one['event']) < String(other['event']) ? -1 : 1;
