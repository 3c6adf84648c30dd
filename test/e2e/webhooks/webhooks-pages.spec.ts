import { setTimeout as pause } from 'node:timers/promises';
import type { EventName } from '../../../src/infrastructure/event-catalog/index.js';
import { exampleEvent, WebhookPublisher } from '../../../src/modules/webhooks/index.js';
import { auditEntries } from '../../support/logs/audited.js';
import { addUser, auditOf, type TestUser } from '../../support/pages/dashboard-users.js';
import { eventually } from '../../support/eventually.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { useTestApp, type Login, useLogin } from '../../support/test-app.js';
import { linkTo, Visitor, type PageResponse, textOf } from '../../support/pages/visitor.js';
import { useReceiver, RETRY_AT_ONCE } from '../../support/webhooks/webhook-receiver.js';

const ENDPOINTS = '/dashboard/development/webhook-endpoints';
const EVENTS = '/dashboard/development/events';
const UNKNOWN = 'c7d1a3b2-6a7e-4a4e-9a57-2f8f0d3b5c11';

const service = useTestApp(RETRY_AT_ONCE, { backgroundWork: true });
const receiver = useReceiver();
let user: TestUser;
let visitor: Visitor;
const owner = useLogin(service, 'owner');
beforeEach(async () => {
  await service.database.query('DELETE FROM webhook_endpoint');
  receiver.response = 200;
  user = await addUser(service);
  visitor = await visitorWithLogin(user);
});

async function visitorWithLogin({ email, password }: Pick<Login, 'email' | 'password'>): Promise<Visitor> {
  const other = new Visitor(service);
  await other.logIn(email, password);
  return other;
}

async function createEndpoint(body: object = {}, environment = 'development'): Promise<string> {
  const { body: endpoint } = await service.request<{ id: string }>('/webhook-endpoints/create', {
    body: { environment, url: `${receiver.url}/hook`, ...body },
    login: owner,
  });
  return endpoint.id;
}

const publish = (
  name: EventName = 'CARD_UPDATED',
  environment: 'development' | 'production' = 'development',
) =>
  service.app
    .get(WebhookPublisher)
    .publish({ clientId: service[environment].clientId, environment }, exampleEvent(name));

/** Opens the page until it contains the text. */
const eventuallyShows = (path: string, text: string | RegExp): Promise<PageResponse> =>
  eventually(`${path} shows ${text}`, async () => {
    const page = await visitor.get(path);
    return new RegExp(text).test(page.text) ? page : undefined;
  });

/** Returns all forms that change something. */
const formsOf = (id: string, eventId: string): [path: string, fields: Record<string, string>][] => [
  [`${ENDPOINTS}/new`, { url: 'https://a.example.com' }],
  [`${ENDPOINTS}/${id}/edit`, { url: 'https://a.example.com' }],
  [`${ENDPOINTS}/${id}/status`, { status: 'paused' }],
  [`${ENDPOINTS}/${id}/delete`, {}],
  [`${ENDPOINTS}/${id}/test`, {}],
  [`${ENDPOINTS}/${id}/recover`, { since: '2026-01-31T08:00' }],
  [`${EVENTS}/${eventId}`, { endpoint_id: id }],
];

describe('The pages about webhook endpoints', () => {
  it('create, edit, pause, resume and delete an endpoint', async () => {
    const empty = await visitor.get(ENDPOINTS);
    expect(textOf(empty)).toContain('No webhook endpoints yet');
    expect(empty.text).toContain(`href="${ENDPOINTS}/new"`);

    const refused = await visitor.fill(`${ENDPOINTS}/new`, {
      url: 'hooks.example.com',
      description: 'Cards',
      'events[]': 'CARD_UPDATED',
    });
    expect(refused.status).toBe(400);
    expect(textOf(refused)).toContain('The “URL” field must be a public https URL.');
    expect(refused.text).toContain('value="hooks.example.com"');
    expect(refused.text).toMatch(/value="CARD_UPDATED" checked/);

    const created = await visitor.submit(`${ENDPOINTS}/new`, {
      url: `${receiver.url}/hook`,
      description: 'Cards',
      'events[]': 'CARD_UPDATED',
      status: 'enabled',
    });
    const [path = ''] = created.location?.split('?') ?? [];
    expect([created.status, created.location]).toEqual([303, `${path}?done=created`]);
    const shown = textOf(await visitor.get(created.location ?? ''));
    expect(shown).toContain('The endpoint was created.');
    expect(shown).toMatch(
      /Status No deliveries yet Description Cards Events CARD_UPDATED Last success Never/,
    );
    expect(shown).toContain('is made with the secret of your development API credentials');
    expect(textOf(await visitor.get(ENDPOINTS))).toMatch(
      /hook Cards No deliveries yet None Never 0 CARD_ ?UPDATED/,
    );

    const renamed = await visitor.fill(`${path}/edit`, { url: `${receiver.url}/new` });
    expect(renamed.location).toBe(`${path}?done=saved`);
    const edited = textOf(await visitor.get(renamed.location ?? ''));
    expect(edited).toContain(`${receiver.url}/new`);
    expect(edited).toContain('All events, including those that are added later');
    expect(edited).not.toContain('Description');

    const paused = await visitor.submit(`${path}/status`, { status: 'paused' });
    expect(paused.location).toBe(`${path}?done=paused`);
    expect(textOf(await visitor.get(path))).toMatch(/Resume .* This endpoint is paused/);
    const resumed = await visitor.submit(`${path}/status`, { status: 'enabled' });
    expect(resumed.location).toBe(`${path}?done=resumed`);

    expect(textOf(await visitor.get(`${path}/delete`))).toContain(`${receiver.url}/new`);
    expect((await visitor.submit(`${path}/delete`)).location).toBe(`${ENDPOINTS}?done=deleted`);
    expect((await visitor.get(path)).status).toBe(404);
    expect(await auditOf(service, user)).toEqual([
      'auth.login success',
      'webhook.create success',
      ...Array<string>(3).fill('webhook.update success'),
      'webhook.delete success',
    ]);
  });

  it('explain an endpoint that the service has disabled, and enable it', async () => {
    const id = await createEndpoint();
    await service.database.query('UPDATE webhook_endpoint SET disabled_at = now()');
    expect(textOf(await visitor.get(ENDPOINTS))).toContain('Disabled: failing');
    expect(textOf(await visitor.get(`${ENDPOINTS}/${id}`))).toContain('deliveries failed for days');
    expect(textOf(await visitor.get(`${ENDPOINTS}/${id}/recover`))).toContain('The endpoint is disabled.');
    const refused = await visitor.submit(`${ENDPOINTS}/${id}/recover`, { since: '2026-01-31T08:00' });
    expect([refused.status, textOf(refused)]).toEqual([409, expect.stringContaining('is disabled')]);
    const enabled = await visitor.submit(`${ENDPOINTS}/${id}/status`, { status: 'enabled' });
    expect(textOf(await visitor.get(enabled.location ?? ''))).toContain('choose Recover events');
  });

  it('send a test and show the result', async () => {
    const id = await createEndpoint();
    receiver.response = 204;
    const failed = await visitor.fill(`${ENDPOINTS}/${id}/test`, { event: 'CARD_FAILED' });
    expect(failed.status).toBe(200);
    expect(textOf(failed)).toMatch(/The endpoint responded with 204\. Only 200 counts.* Result HTTP 204/);
    expect(failed.text).toMatch(/value="CARD_FAILED" selected/);
    expect(receiver.arrivals.at(-1)?.event).toMatchObject({ event: 'CARD_FAILED' });
    receiver.response = 200;
    const received = await visitor.submit(`${ENDPOINTS}/${id}/test`, { event: 'CARD_UPDATED' });
    expect(textOf(received)).toMatch(/The endpoint received the event\. Result Received \(200\)/);
    const [event = ''] = /\/dashboard\/development\/events\/[\w-]+/.exec(received.text) ?? [];
    expect(textOf(await visitor.get(event))).toMatch(/CARD_UPDATED .* Yes: an example .* Succeeded/);
    const list = await visitor.get(`${EVENTS}?event=CARD_FAILED`);
    const again = await visitor.get(linkTo(new URL(receiver.url).host, list.text));
    expect(again.text).toMatch(/value="CARD_FAILED" selected/);
    const refused = await visitor.submit(`${ENDPOINTS}/${id}/test`, { event: 'UNKNOWN' });
    expect([refused.status, textOf(refused)]).toEqual([400, expect.stringContaining('“Event” is invalid')]);
    expect(textOf(await visitor.get(`${ENDPOINTS}/${id}`))).toMatch(
      /Recent deliveries .* Received \(200\) CARD_UPDATED .* HTTP 204 CARD_FAILED/,
    );
  });

  it('list each endpoint with its deliveries of the last 24 hours', async () => {
    const [first, second] = [await createEndpoint(), await createEndpoint({ url: `${receiver.url}/other` })];
    for (const response of [204, 200, 200]) {
      receiver.response = response;
      await visitor.fill(`${ENDPOINTS}/${first}/test`, { event: 'CARD_FAILED' });
    }
    const { text } = await eventuallyShows(ENDPOINTS, '2 delivered, 1 failed in the last 24 hours');
    const labels = [
      ...text.matchAll(/webhook-endpoints\/([\w-]{36})".*?class="sparkline".*?aria-label="([^"]+)"/g),
    ];
    expect(new Map(labels.map(([, id, label]) => [id, label]))).toEqual(
      new Map([
        [first, '2 delivered, 1 failed in the last 24 hours'],
        [second, '0 delivered, 0 failed in the last 24 hours'],
      ]),
    );
  });

  it('show code that verifies signatures, in the language that was chosen last', async () => {
    const id = await createEndpoint();
    const path = `${ENDPOINTS}/${id}`;
    const first = await visitor.get(path);
    expect(first.text).toContain('Copy: Verification in TypeScript');
    expect(first.text).toContain('id="tab-deliveries" class="tab shown"');
    const java = await visitor.get(linkTo('Java', first.text));
    expect(java.text).toContain('private static final long TOLERANCE');
    expect(java.text).toContain('id="tab-signature" class="tab shown"');
    expect(java.text).toContain('href="/docs/receivers#receiverjava"');
    expect(java.size).toBeLessThan(80_000);
    expect((await visitor.get(path)).text).toContain('Copy: Verification in Java');
    expect((await visitor.get(`${path}?language=constructor`)).text).toContain('Copy: Verification in Java');
    visitor.cookies.delete('receiver_language');
  });

  it('recover events since a time', async () => {
    const id = await createEndpoint();
    receiver.response = 503;
    const eventId = await publish();
    await eventuallyShows(`${EVENTS}/${eventId}`, 'Failed');
    const failing = textOf(await visitor.get(`${ENDPOINTS}/${id}`));
    expect(failing).toMatch(/HTTP 503 CARD_UPDATED.* Status Failing .* Failures in a row 3 /);
    expect(failing).toMatch(
      /Success rate, 7 days [\d.]+% 95% respond within \d+ ms Last failure (?:now|\d+ seconds? ago) .* Attempts, 7 days/,
    );
    receiver.response = 200;
    const path = `${ENDPOINTS}/${id}/recover`;
    expect(textOf(await visitor.get(path))).not.toContain('Last recovery');
    const refused = await visitor.submit(path, { since: 'yesterday' });
    expect([refused.status, textOf(refused)]).toEqual([
      400,
      expect.stringContaining('The “Send missed events since” field'),
    ]);
    expect(refused.text).toContain('name="since"');
    const started = await visitor.submit(path, { since: '2026-01-31T08:00' });
    expect(started.location).toBe(`${path}?done=started&live=on`);
    const finished = await eventuallyShows(path, 'Check that the events arrived');
    expect(textOf(finished)).toMatch(
      /State Finished .* Events queued 1 .* Check that the events arrived: Recent deliveries/,
    );
    await eventuallyShows(`${EVENTS}/${eventId}`, 'Succeeded');
    // The last attempt is no failure.
    const { text } = await visitor.get(`${ENDPOINTS}/${id}`);
    const [, failure = ''] = /Last failure.*?href="([^"]*\/request-logs\/\d+)"/s.exec(text) ?? [];
    expect(textOf(await visitor.get(failure))).toContain('Status code 503');
  });

  it('return 404 for endpoints of the other environment and of other organizations', async () => {
    const id = await createEndpoint();
    const { id: otherOrganization } = await service.anotherOrganization();
    const stranger = await visitorWithLogin(await service.login('owner', otherOrganization));
    for (const below of ['', '/edit', '/delete', '/test', '/recover']) {
      const production = `/dashboard/production/webhook-endpoints/${id}${below}`;
      expect((await visitor.get(production)).status).toBe(404);
      expect((await stranger.get(`${ENDPOINTS}/${id}${below}`)).status).toBe(404);
      if (below !== '') {
        await stranger.get(ENDPOINTS);
        expect((await stranger.submit(`${ENDPOINTS}/${id}${below}`)).status).toBe(404);
        await visitor.get(ENDPOINTS);
        expect((await visitor.submit(production)).status).toBe(404);
      }
    }
    expect(
      (await visitor.submit(`/dashboard/production/webhook-endpoints/${id}/status`, { status: 'paused' }))
        .status,
    ).toBe(404);
    expect((await visitor.get(`${ENDPOINTS}/unknown`)).status).toBe(404);
    expect((await visitor.get('/dashboard/staging/webhook-endpoints')).status).toBe(404);
    expect(textOf(await visitor.get(`${ENDPOINTS}/${id}`))).toContain('Status No deliveries yet');
  });

  it.each(['owner', 'admin', 'member'] as const)('show all buttons to the role %s', async (role) => {
    const id = await createEndpoint();
    const colleague = await visitorWithLogin(await service.login(role));
    const page = textOf(await colleague.get(`${ENDPOINTS}/${id}`));
    expect(page).toContain('Send test Edit Pause Recover events Delete');
    const paused = await colleague.submit(`${ENDPOINTS}/${id}/status`, { status: 'paused' });
    expect(paused.status).toBe(303);
  });

  it('show viewers everything and let them change nothing', async () => {
    const id = await createEndpoint();
    const eventId = await publish();
    const login = await service.login('viewer');
    const viewer = await visitorWithLogin(login);
    const list = textOf(await viewer.get(ENDPOINTS));
    expect(list).toContain(`${receiver.url}/hook`);
    expect(list).not.toContain('Create endpoint');
    const page = textOf(await viewer.get(`${ENDPOINTS}/${id}`));
    expect(page).toMatch(/hook Last recovery Healthy Success rate/);
    expect((await viewer.get(`${ENDPOINTS}/${id}`)).text).not.toContain('/api-credentials"');
    expect(textOf(await viewer.get(`${ENDPOINTS}/${id}/recover`))).not.toContain('Start a recovery');
    await eventuallyShows(`${EVENTS}/${eventId}`, 'Succeeded');
    expect(textOf(await viewer.get(`${EVENTS}/${eventId}`))).not.toContain('Send again');
    for (const path of ['new', `${id}/edit`, `${id}/delete`, `${id}/test`])
      expect((await viewer.get(`${ENDPOINTS}/${path}`)).status).toBe(403);
    await viewer.get(ENDPOINTS);
    for (const [path, fields] of formsOf(id, eventId))
      expect((await viewer.submit(path, fields)).status).toBe(403);
    expect(await auditOf(service, login)).toEqual([
      'auth.login success',
      'webhook.create denied',
      'webhook.update denied',
      'webhook.update denied',
      'webhook.delete denied',
      'webhook.resend denied',
      'webhook.resend denied',
    ]);
    // The target is the endpoint, which the address of an event does not name.
    const resends = (await auditEntries(service)).filter(({ event }) => event.action === 'webhook.resend');
    expect(resends.slice(0, 2).map(({ target }) => target.name)).toEqual(expect.arrayContaining([id, null]));
  });
});

describe('The pages about signing keys', () => {
  const KEY = /whsec_[A-Za-z0-9+/]{43}=/;
  const keyOn = ({ text }: PageResponse): string => {
    const key = KEY.exec(text.replaceAll('&#43;', '+').replaceAll('&#x2F;', '/'))?.[0] ?? '';
    rememberSecret(key);
    return key;
  };
  const idOn = ({ text }: PageResponse): string => /webhook-endpoints\/([\da-f-]{36})"/.exec(text)?.[1] ?? '';

  it('create an endpoint with a key of its own, and show the key to admins', async () => {
    // The first option, which browsers select.
    expect((await visitor.get(`${ENDPOINTS}/new`)).text).toMatch(
      /<select[^>]*name="signing"[^>]*><option[^>]*value="hmac"/,
    );
    const created = await visitor.fill(`${ENDPOINTS}/new`, {
      url: `${receiver.url}/own`,
      signing: 'hmac',
      header_lines: 'X-Api-Key: gateway\r\n\r\nx-tenant:7',
    });
    const key = keyOn(created);
    expect([created.status, key]).toEqual([200, expect.stringMatching(KEY)]);
    expect(textOf(created)).toContain('The new signing key');
    const path = `${ENDPOINTS}/${idOn(created)}`;
    const page = await visitor.get(path);
    expect(page.text).not.toContain(key);
    expect(textOf(page)).toContain('Own headers X-Api-Key, x-tenant');
    expect(textOf(page)).toContain('a key that only this endpoint has');
    expect(page.text).not.toContain('gateway');
    expect(keyOn(await visitor.submit(`${path}/key`, {}))).toBe(key);
    expect(await auditOf(service, user)).toEqual(expect.arrayContaining(['webhook.view_key success']));

    const member = await visitorWithLogin(await service.login('member'));
    expect(textOf(await member.get(path))).not.toContain('View key');
    expect((await member.get(`${path}/key`)).status).toBe(403);
    expect((await member.submit(`${path}/key`, {})).status).toBe(403);
  });

  it('change headers without showing their values', async () => {
    const id = await createEndpoint({ headers: { 'X-Api-Key': 'gateway', 'X-Old': 'old' } });
    const form = await visitor.get(`${ENDPOINTS}/${id}/edit`);
    expect(textOf(form)).toContain('Present: X-Api-Key, X-Old.');
    expect(textOf(form)).toContain('If you change the host or port of the URL, they are removed');
    expect(form.text).not.toContain('gateway');
    const saved = await visitor.fill(`${ENDPOINTS}/${id}/edit`, { header_lines: 'x-old:\nX-New: new' });
    expect(saved.status).toBe(303);
    expect(textOf(await visitor.get(`${ENDPOINTS}/${id}`))).toContain('Own headers X-Api-Key, X-New');
    for (const [lines, message] of [
      ['X-A: a\n\nno colon', 'Line 3 of the “Your own headers” field must be a name'],
      ['X A: a', 'Line 1 of'],
      ['Host: a', 'must not have the header Host'],
      ['X-A: zoë', 'visible ASCII'],
    ] as const) {
      const refused = await visitor.fill(`${ENDPOINTS}/${id}/edit`, { header_lines: lines });
      expect([refused.status, textOf(refused)]).toEqual([400, expect.stringContaining(message)]);
    }
  });

  it('rotate and activate a key', async () => {
    const id = await createEndpoint({ signing: 'ed25519' });
    const path = `${ENDPOINTS}/${id}`;
    const rotated = await visitor.fill(`${path}/rotate-key`, { signing: 'ed25519', overlap_hours: '72' });
    expect([rotated.status, textOf(rotated)]).toEqual([
      200,
      expect.stringContaining('Public key Copy whpk_'),
    ]);
    const page = textOf(await visitor.get(path));
    expect(page).toContain('A rotation is in progress.');
    expect(page).toContain('Activate new key');
    const again = await visitor.submit(`${path}/rotate-key`, { signing: 'ed25519', overlap_hours: '24' });
    expect([again.status, textOf(again)]).toEqual([409, expect.stringContaining('an overlap of 0 hours')]);
    expect((await visitor.fill(`${path}/activate-key`, {})).status).toBe(303);
    expect(textOf(await visitor.get(path))).not.toContain('Activate new key');
    const ended = await visitor.fill(`${path}/rotate-key`, { signing: 'client', overlap_hours: '0' });
    expect([ended.status, textOf(ended)]).toEqual([200, expect.not.stringContaining('Public key')]);
    expect(textOf(await visitor.get(path))).toContain('Give it its own key');
  });
});

describe('The pages about events', () => {
  beforeEach(() => service.database.query('DELETE FROM webhook_event'));

  it('list events, newest first, page by page and with filters', async () => {
    expect(textOf(await visitor.get(EVENTS))).toContain('No events in the last 7 days');
    for (let count = 0; count < 51; count += 1) await publish('CARD_UPDATED');
    // Events of the same millisecond are in the order of their random IDs.
    await pause(5);
    const last = await publish('MERCHANT_STATUS_UPDATE');
    const first = await visitor.get(EVENTS);
    const idsOn = ({ text }: PageResponse): string[] =>
      [...text.matchAll(/\/events\/([\da-f-]{36})"/g)].map(([, id]) => id ?? '');
    expect(idsOn(first)).toHaveLength(50);
    expect(idsOn(first)[0]).toBe(last);
    expect(textOf(first)).toContain('Not sent');
    const [, next = ''] = /href="([^"]+cursor=[^"]+)"/.exec(first.text) ?? [];
    const second = await visitor.get(next.replaceAll('&amp;', '&'));
    expect(idsOn(second)).toHaveLength(2);
    expect(new Set([...idsOn(first), ...idsOn(second)]).size).toBe(52);
    expect(idsOn(await visitor.get(`${EVENTS}?event=MERCHANT_STATUS_UPDATE`))).toEqual([last]);
    expect(idsOn(await visitor.get(`${EVENTS}?external_user_id=user-8f3a`))).toHaveLength(50);
    expect(textOf(await visitor.get(`${EVENTS}?external_user_id=nobody`))).toContain('No events match');
    const future = await visitor.get(`${EVENTS}?start=2030-01-01T00:00&end=2030-01-01T01:00`);
    expect([future.status, textOf(future)]).toEqual([200, expect.stringContaining('No events match')]);
    const refused = await visitor.get(`${EVENTS}?start=2026-01-01T00:00&end=2026-02-01T00:00`);
    expect([refused.status, textOf(refused)]).toEqual([400, expect.stringContaining('at most 7 days')]);
    expect(refused.text).toContain('value="2026-01-01T00:00"');
    expect((await visitor.get(`${EVENTS}?cursor=wrong`)).status).toBe(400);
  });

  it('show an event with its deliveries, and send it again to one endpoint', async () => {
    const id = await createEndpoint();
    const other = await createEndpoint({ url: `${receiver.url}/other`, events: ['CARD_FAILED'] });
    receiver.response = 503;
    const eventId = await publish();
    const path = `${EVENTS}/${eventId}`;
    const failed = await eventuallyShows(path, 'Failed');
    expect(textOf(failed)).toMatch(
      /CARD_UPDATED .* user-8f3a .*hook Failed HTTP 503 3 None Send again .*other Not sent No attempt 0 Not subscribed/,
    );
    const result = String.raw`\S+ \S+ \S+ Attempt \d HTTP 503 \d+ ms `;
    expect(textOf(failed)).toMatch(new RegExp(` \\S+ \\S+ \\S+ Published ${result.repeat(3)}`));
    expect(failed.text).toContain('&quot;card_id&quot;: &quot;81n9al10a0ayn13&quot;');
    expect(failed.text).toContain(`/request-logs?event_id=${eventId}`);
    const list = await visitor.get(EVENTS);
    expect(textOf(list)).toMatch(/All\s*Failed \d+\s*Waiting 0\s*Not sent/);
    expect(list.text).toMatch(
      /<a href="[^"]*start=[^"]+" tabindex="-1"><title>[^<]+: \d+ attempts, \d+ failed</,
    );
    expect((await visitor.get(`${EVENTS}?external_user_id=user-8f3a`)).text).not.toContain(
      'class="histogram"',
    );
    expect(textOf(list)).toMatch(/CARD_UPDATED .* Failed 3 .*user-8f3a/);
    for (const [outcome, count] of [
      ['failed', 1],
      ['waiting', 0],
      ['not_sent', 0],
    ] as const) {
      const { text } = await visitor.get(`${EVENTS}?outcome=${outcome}`);
      expect([outcome, text.match(/<tr id="entry-/g)?.length ?? 0]).toEqual([outcome, count]);
    }
    const unsent = await publish('MERCHANT_STATUS_UPDATE');
    await service.database.query('DELETE FROM webhook_delivery WHERE event_id = $1', [unsent]);
    expect((await visitor.get(`${EVENTS}?outcome=not_sent`)).text).toContain(`/events/${unsent}"`);
    await service.database.query('DELETE FROM webhook_event WHERE id = $1', [unsent]);
    // All failed deliveries are two clicks away from being sent again.
    const plan = await visitor.get(linkTo('Send all failed again', list.text));
    expect(textOf(plan)).toContain('Send 1 delivery again?');

    const refused = await visitor.submit(path, { endpoint_id: other });
    expect([refused.status, textOf(refused)]).toEqual([
      400,
      expect.stringContaining(
        'The selected “Event” is invalid: the endpoint is not subscribed to CARD_UPDATED.',
      ),
    ]);
    await visitor.submit(`${ENDPOINTS}/${id}/status`, { status: 'paused' });
    expect((await visitor.submit(path, { endpoint_id: id })).location).toBe(`${path}?done=queued&live=on`);
    expect((await visitor.submit(path, { endpoint_id: id })).location).toBe(`${path}?done=waiting&live=on`);
    expect(textOf(await visitor.get(path))).toMatch(/hook Waiting HTTP 503 .* When you resume the endpoint/);
    expect(textOf(await visitor.get(`${EVENTS}?outcome=waiting`))).toMatch(
      /Failed \d+ Waiting 1 .* Waiting 0\/3 \d\d:/,
    );
    expect(textOf(await visitor.get(`${ENDPOINTS}/${id}`))).toContain('Events waiting 1');
    // The service sends what is in the queue, also if the endpoint has unsubscribed in the meantime.
    const subscribe = (events: string | null) =>
      service.database.query('UPDATE webhook_endpoint SET events = $2 WHERE id = $1', [id, events]);
    await subscribe('{CARD_FAILED}');
    expect(textOf(await visitor.get(path))).toMatch(/hook Waiting HTTP 503 .* When you resume the endpoint/);
    await subscribe(null);

    receiver.response = 200;
    await visitor.submit(`${ENDPOINTS}/${id}/status`, { status: 'enabled' });
    expect(textOf(await eventuallyShows(path, 'Succeeded'))).toMatch(
      /hook Succeeded Received \(200\) 4 None/,
    );
    await service.database.query('DELETE FROM webhook_endpoint WHERE id = $1', [id]);
    expect(textOf(await visitor.get(path))).toMatch(/hook \(deleted\) Succeeded/);
  });

  it('return 404 for events and endpoints of others', async () => {
    const id = await createEndpoint();
    const eventId = await publish();
    const { id: otherOrganization } = await service.anotherOrganization();
    const stranger = await visitorWithLogin(await service.login('owner', otherOrganization));
    expect((await stranger.get(`${EVENTS}/${eventId}`)).status).toBe(404);
    expect((await visitor.get(`/dashboard/production/events/${eventId}`)).status).toBe(404);
    expect((await visitor.get(`${EVENTS}/unknown`)).status).toBe(404);
    expect((await visitor.get(`${EVENTS}/${UNKNOWN}`)).status).toBe(404);
    expect((await stranger.submit(`${EVENTS}/${eventId}`, { endpoint_id: id })).status).toBe(404);
    await visitor.get(EVENTS);
    const production = await createEndpoint({}, 'production');
    expect((await visitor.submit(`${EVENTS}/${eventId}`, { endpoint_id: production })).status).toBe(404);
    expect((await visitor.submit(`${EVENTS}/${UNKNOWN}`, { endpoint_id: id })).status).toBe(404);
  });
});
