import type { Page } from 'playwright-core';
import { exampleEvent, WebhookPublisher } from '../../src/modules/webhooks/index.js';
import {
  describeInBrowser,
  inspect,
  tabTo,
  type WindowOptions,
  waitForHeading,
} from '../support/pages/browser.js';
import { eventually } from '../support/eventually.js';
import { rememberSecret } from '../support/runner/run-directory.js';
import { useLogin, useTestApp } from '../support/test-app.js';
import { useReceiver } from '../support/webhooks/webhook-receiver.js';

const ENDPOINTS = '/dashboard/development/webhook-endpoints';
const EVENTS = '/dashboard/development/events';
const PHONE = { width: 390, height: 844 };

describeInBrowser('Webhook endpoints and events in a browser', (windows) => {
  const service = useTestApp(
    { WEBHOOK_TARGETS: 'any', WEBHOOK_RETRY_SECONDS: '0,3600', TRUSTED_PROXY_HOPS: '1' },
    { backgroundWork: true },
  );
  const receiver = useReceiver();
  const login = useLogin(service, 'admin');

  beforeEach(() => {
    receiver.response = 200;
    return service.database.query('DELETE FROM webhook_endpoint');
  });
  async function open(options: WindowOptions = {}): Promise<Page> {
    return windows.open(service.baseUrl, { ...options, login });
  }

  async function createEndpoint(body: object): Promise<string> {
    const created = await service.request<{ id: string }>('/webhook-endpoints/create', {
      body: { environment: 'development', ...body },
      login: await service.login('owner'),
    });
    return created.body.id;
  }

  const publish = (): Promise<string> =>
    service.app
      .get(WebhookPublisher)
      .publish(
        { clientId: service.development.clientId, environment: 'development' },
        exampleEvent('CARD_UPDATED'),
      );

  const attempts = (eventId: string, count: number): Promise<boolean> =>
    eventually(`${count} attempts have ended`, async () => {
      const rows = await service.database.query('SELECT 1 FROM request_log WHERE webhook_event_id = $1', [
        eventId,
      ]);
      return rows.length >= count;
    });

  it('all pages are accessible', async () => {
    const page = await open({ bypassPolicy: true });
    const findings: string[] = [];
    const check = async (path: string, name: string): Promise<void> => {
      await page.goto(path);
      findings.push(...(await inspect(page, name)));
    };
    await check(ENDPOINTS, 'webhook-endpoints-empty');
    await service.database.query('DELETE FROM webhook_event');
    await check(EVENTS, 'events-empty');
    const id = await createEndpoint({ url: `${receiver.url}/hook`, description: 'Card updates' });
    await createEndpoint({ url: `${receiver.url}/a-long-path/${'segment/'.repeat(15)}`, status: 'paused' });
    const disabled = await createEndpoint({ url: `${receiver.url}/old`, events: ['CARD_FAILED'] });
    await service.database.query('UPDATE webhook_endpoint SET disabled_at = now() WHERE id = $1', [disabled]);
    await attempts(await publish(), 1);
    receiver.response = 503;
    const failing = await publish();
    await attempts(failing, 2);
    await check(ENDPOINTS, 'webhook-endpoints');
    await check(`${ENDPOINTS}/${id}`, 'webhook-endpoint');
    await check(EVENTS, 'events');
    await check(`${EVENTS}/${failing}`, 'event');
    await check(`${ENDPOINTS}/${disabled}`, 'webhook-endpoint-disabled');
    await check(`${ENDPOINTS}/new`, 'webhook-endpoint-new');
    await check(`${ENDPOINTS}/${id}/edit`, 'webhook-endpoint-edit');
    await check(`${ENDPOINTS}/${id}/delete`, 'webhook-endpoint-delete');
    const signed = await createEndpoint({
      url: `${receiver.url}/signed`,
      signing: 'ed25519',
      headers: { 'X-Api-Key': 'x', [`X-${'Long-Name-'.repeat(9)}`]: 'x' },
    });
    await check(`${ENDPOINTS}/${signed}/rotate-key`, 'webhook-endpoint-rotate-key');
    await page.getByRole('button', { name: 'Make a new key' }).click();
    await waitForHeading(page, 'The new signing key');
    findings.push(...(await inspect(page, 'webhook-endpoint-new-key')));
    await check(`${ENDPOINTS}/${signed}`, 'webhook-endpoint-rotating');
    await check(`${ENDPOINTS}/${signed}/activate-key`, 'webhook-endpoint-activate-key');
    await check(`${ENDPOINTS}/${signed}/key`, 'webhook-endpoint-view-key');
    await check(`${ENDPOINTS}/${signed}/edit`, 'webhook-endpoint-edit-headers');
    await service.database.query('DELETE FROM webhook_endpoint WHERE id = $1', [signed]);
    await check(`${ENDPOINTS}/${id}/test`, 'webhook-endpoint-test');
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText('Only 200 counts').waitFor();
    findings.push(...(await inspect(page, 'webhook-endpoint-tested')));
    await check(`${ENDPOINTS}/${id}/recover`, 'webhook-endpoint-recover');
    await page.getByRole('button', { name: 'Recover events' }).click();
    await page.getByText('The recovery was started').waitFor();
    findings.push(...(await inspect(page, 'webhook-endpoint-recovering')));
    // Live updates must not ask for an endpoint that the next test has deleted.
    await page.close();
    expect(findings).toEqual([]);
  });

  it.each([true, false])(
    'on a phone, a user creates an endpoint, tests it and sends the event again (JavaScript: %s)',
    async (javaScript) => {
      const page = await open({ size: PHONE, javaScript });
      await page.goto(ENDPOINTS);
      await page.getByRole('link', { name: 'Create endpoint' }).click();
      await page.getByLabel('URL').fill(`${receiver.url}/hook`);
      await page.getByRole('button', { name: 'Create endpoint' }).click();
      await waitForHeading(page, 'The new signing key');
      rememberSecret((await page.locator('.code-block code').first().textContent()) ?? '');
      await page.getByText('The endpoint was created.').waitFor();
      await page.getByRole('link', { name: 'Continue to the endpoint' }).click();
      await page.getByRole('link', { name: 'Send test' }).click();
      await page.getByRole('button', { name: 'Send test' }).click();
      await page.getByText('The endpoint received the event.').waitFor();
      await page.getByRole('link', { name: 'What was sent, and the response' }).click();
      await waitForHeading(page, 'ACCOUNT_LOGIN_REQUIRED');
      await page.getByRole('button', { name: 'Send again' }).click();
      await page.getByText('The event is being sent.').waitFor();
      await receiver.arrived(2, '/hook');
      receiver.arrivals.length = 0;
      // With a script, the state is updated by itself.
      await eventually('both attempts are shown', async () => {
        if (!javaScript) await page.reload();
        return (await page.locator('td[data-title="Attempts"]').textContent()) === '2';
      });
      await page.close();
    },
  );

  it('a user corrects the URL of a failing endpoint and sends the waiting event now', async () => {
    const id = await createEndpoint({ url: `${receiver.url}/wrong` });
    receiver.response = (response, { path }) => response.writeHead(path === '/wrong' ? 500 : 200).end();
    const event = await publish();
    await attempts(event, 2);
    const page = await open();
    await page.goto(`${ENDPOINTS}/${id}/edit`);
    await page.getByLabel('URL').fill(`${receiver.url}/right`);
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('The changes were saved.').waitFor();
    await page.goto(`${EVENTS}/${event}`);
    await page.getByRole('button', { name: 'Send now' }).click();
    await page.getByText('The event is being sent. If it waited for a retry').waitFor();
    await receiver.arrived(1, '/right');
    // The page is live.
    await page.locator('td.state').getByText('Succeeded').waitFor();
    receiver.arrivals.length = 0;
    await page.close();
  });

  it('a user filters events and pauses an endpoint by keyboard alone', async () => {
    const id = await createEndpoint({ url: `${receiver.url}/hook` });
    await attempts(await publish(), 1);
    const page = await open();
    await page.goto(EVENTS);
    await page.getByLabel('Customer', { exact: true }).focus();
    await page.keyboard.type('nobody');
    await page.keyboard.press('Enter');
    await page.getByText('No events match these filters').waitFor();
    await page.goto(`${ENDPOINTS}/${id}`);
    await page.locator('h1').click();
    await tabTo(page, 'Pause');
    await page.keyboard.press('Enter');
    await page.getByText('Deliveries are paused.').waitFor();
  });

  /** Publishes events whose retries have run out. */
  async function failed(count: number): Promise<string[]> {
    receiver.response = 503;
    const ids = await Promise.all(Array.from({ length: count }, publish));
    for (const id of ids) await attempts(id, 2);
    await service.database.query('DELETE FROM webhook_delivery');
    receiver.response = 200;
    receiver.arrivals.length = 0;
    return ids;
  }

  const LOG = '/dashboard/development/request-logs?type=webhook&outcome=failure';
  const arrivedIds = (): unknown[] =>
    receiver.arrivals.map(({ headers }) => headers['webhook-id']).toSorted();
  const checkbox = (page: Page, id: string) => page.locator(`input[value^="${id}"]`).first();

  it.each([true, false])(
    'a user sends selected failed deliveries again, and then all others (JavaScript: %s)',
    async (javaScript) => {
      await service.database.query('DELETE FROM request_log');
      await createEndpoint({ url: `${receiver.url}/hook` });
      const [first = '', second = '', ...others] = await failed(4);
      const page = await open({ javaScript });
      await page.goto(LOG);
      await checkbox(page, first).focus();
      await page.keyboard.press('Space');
      await checkbox(page, second).check();
      await page
        .getByRole('button', { name: javaScript ? 'Send again (2 deliveries)' : 'Send again' })
        .click();
      await waitForHeading(page, 'Send 2 deliveries again?');
      await page.getByRole('button', { name: 'Send 2 deliveries again' }).click();
      await page.getByText('The deliveries are being sent again.').waitFor();
      const isShown = (text: string): Promise<boolean> =>
        eventually(text, async () => {
          if (!javaScript) await page.reload();
          return ((await page.locator('#results').textContent()) ?? '').includes(text);
        });
      await isShown('2 of 2 deliveries queued or skipped.');
      await receiver.arrived(2, '/hook');
      expect(arrivedIds()).toEqual([first, second].toSorted());
      await page.goto(LOG);
      await page.getByRole('link', { name: 'Send all failed again' }).click();
      await page.getByRole('button', { name: 'Send 2 deliveries again' }).click();
      // The page must not be reloaded before it is there.
      await page.getByText('The deliveries are being sent again.').waitFor();
      await isShown('2 of 2 deliveries queued or skipped.');
      await receiver.arrived(4, '/hook');
      expect(arrivedIds()).toEqual([first, second, ...others].toSorted());
      receiver.arrivals.length = 0;
      await page.close();
    },
  );

  it('a user selects all rows of a page, which stay selected through a live update', async () => {
    await service.database.query('DELETE FROM request_log');
    await createEndpoint({ url: `${receiver.url}/hook` });
    const [first = '', second = ''] = await failed(2);
    const page = await open();
    await page.goto(`${LOG}&live=on`);
    const send = page.getByRole('button', { name: 'Send again' });
    expect(await send.isDisabled()).toBe(true);
    await page.getByLabel('Select all on this page').check();
    expect(await send.textContent()).toBe('Send again (2 deliveries)');
    await page.getByLabel('Select all on this page').uncheck();
    expect(await send.isDisabled()).toBe(true);
    await checkbox(page, first).check();
    // One update has both attempts.
    let isHeld = false;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route(/live=on/, async (route) => {
      isHeld = true;
      await held;
      await route.continue();
    });
    await eventually('an update waits', () => isHeld);
    await failed(1);
    release();
    await page.getByText('2 new entries').waitFor();
    expect(await checkbox(page, first).isChecked()).toBe(true);
    expect(await checkbox(page, second).isChecked()).toBe(false);
    expect(await send.textContent()).toBe('Send again (1 delivery)');
    await page.close();
  });

  it('the pages that send failed deliveries again are accessible', async () => {
    await service.database.query('DELETE FROM request_log');
    await createEndpoint({ url: `${receiver.url}/hook` });
    await createEndpoint({ url: `${receiver.url}/a-long-path/${'segment/'.repeat(15)}` });
    await failed(3);
    const page = await open({ bypassPolicy: true });
    const findings: string[] = [];
    const check = async (path: string, name: string): Promise<void> => {
      await page.goto(path);
      findings.push(...(await inspect(page, name)));
    };
    await check(LOG, 'request-logs-failed');
    await check(EVENTS, 'events-failed');
    await check(`${EVENTS}/failed/send-again?selected=none`, 'resend-nothing');
    await check(`${EVENTS}/failed/send-again?status_code=1`, 'resend-refused');
    await check(`${EVENTS}/failed/send-again?event=CARD_UPDATED`, 'resend-plan');
    await page.getByRole('button', { name: 'Send 6 deliveries again' }).click();
    await page.getByText('6 of 6 deliveries queued or skipped.').waitFor();
    findings.push(...(await inspect(page, 'resend')));
    await page.close();
    expect(findings).toEqual([]);
  });
});
