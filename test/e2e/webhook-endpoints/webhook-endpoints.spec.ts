import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Transactional } from '../../../src/infrastructure/database/index.js';
import { EVENT_NAMES } from '../../../src/infrastructure/event-catalog/index.js';
import { exampleEvent, WebhookPublisher } from '../../../src/modules/webhooks/index.js';
import { WebhookEndpointsService } from '../../../src/modules/webhook-endpoints/index.js';
import { auditedBy, auditEntries } from '../../support/logs/audited.js';
import { accessToken } from '../../support/logins/device-flow.js';
import { UNKNOWN_ID } from '../../support/documents/operations.js';
import { watchStatements } from '../../support/database/statements.js';
import {
  countOf,
  error,
  invalidField,
  startTestApp,
  useTestApp,
  type RequestOptions,
  type Login,
  MISMATCH,
} from '../../support/test-app.js';
import { addEndpoint, ENDPOINT_NOT_FOUND } from '../../support/webhooks/webhook-receiver.js';
import { visitorWithRole } from '../../support/pages/visitor.js';

const ALREADY_EXISTS = error(
  'WEBHOOK_ENDPOINT_ERROR',
  'WEBHOOK_ENDPOINT_ALREADY_EXISTS',
  'There is a webhook endpoint with this URL in this environment already.',
);
const LIMIT_REACHED = error(
  'WEBHOOK_ENDPOINT_ERROR',
  'WEBHOOK_ENDPOINT_LIMIT_REACHED',
  'The environment already has the maximum of 10 webhook endpoints.',
);
const SELECTED_ENVIRONMENT = 'The selected environment is invalid. Allowed values: development, production.';
const SELECTED_STATUS = 'The selected status is invalid. Allowed values: enabled, paused.';
const NOT_PUBLIC = 'The url field must be a public https URL.';
const URL_TOO_LONG = 'The url field must not be greater than 2083 characters.';
const DESCRIPTION_TOO_LONG = 'The description field must not be greater than 255 characters.';
const ALLOWED_EVENTS = `Allowed values: ${EVENT_NAMES.join(', ')}.`;
const READ = 'webhook_endpoints:read';
const WRITE = 'webhook_endpoints:write';

interface Endpoint extends Record<string, unknown> {
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
}
type Environment = 'development' | 'production';

const service = useTestApp({
  TRUSTED_PROXY_HOPS: '1',
});
let member: Login;
/** The owner of another organization. */
let otherOwner: Login;
/** Access token of a member for development, with both scopes. */
let token: string;

beforeAll(async () => {
  member = await service.login('member');
  const { id } = await service.anotherOrganization();
  otherOwner = await service.login('owner', id);
  token = await accessToken(service, member, service.development, `${READ} ${WRITE}`);
});
beforeEach(() => service.database.query('DELETE FROM webhook_endpoint'));
let number = 0;
const someUrl = (): string => `https://n${(number += 1)}.example.com/`;

const create = (body: unknown, as: RequestOptions = { token }) =>
  service.request<Endpoint>('/webhook-endpoints/create', { body, ...as });
const list = async (environment: Environment = 'development', as: RequestOptions = { token }) =>
  (await service.request<{ data: Endpoint[] }>(`/webhook-endpoints?environment=${environment}`, as)).body
    .data;
const get = (id: string, as: RequestOptions = { token }) =>
  service.request<Endpoint>(`/webhook-endpoints/${id}`, as);
const patch = (id: string, body: unknown, as: RequestOptions = { token }) =>
  service.request<Endpoint>(`/webhook-endpoints/${id}`, { method: 'PATCH', body, ...as });
const remove = (id: string, as: RequestOptions = { token }) =>
  service.request<Endpoint>(`/webhook-endpoints/${id}`, { method: 'DELETE', ...as });

const ACTIONS = [
  ['test', {}],
  ['redeliver', { event_id: UNKNOWN_ID }],
  ['recover', { since: '2026-01-31T08:00:00Z' }],
] as const;
const act = (id: string, [verb, body]: (typeof ACTIONS)[number], as: RequestOptions) =>
  service.request(`/webhook-endpoints/${id}/${verb}`, { body, ...as });

async function created(body: object = {}, as: RequestOptions = { token }): Promise<Endpoint> {
  const response = await create({ environment: 'development', url: someUrl(), ...body }, as);
  expect(response.status).toBe(200);
  return response.body;
}
const rows = () => service.database.query('SELECT * FROM webhook_endpoint ORDER BY id');
describe('POST /webhook-endpoints/create', () => {
  it('returns the endpoint', async () => {
    const before = Date.now();
    const { status, body } = await create({
      environment: 'development',
      url: 'https://hooks.example.com/merchants',
      description: 'Card updates',
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) as string,
      url: 'https://hooks.example.com/merchants',
      description: 'Card updates',
      environment: 'development',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      events: null,
      status: 'enabled',
      health: { last_success_at: null, consecutive_failures: 0, throttled: false, disabled_reason: null },
      signing: 'client',
      public_key: null,
      previous_key_expires_at: null,
      header_names: [],
    });
    expect(Date.parse(String(body['created_at']))).toBeGreaterThanOrEqual(before);
    expect(await rows()).toMatchObject([{ id: body.id, client_id: service.development.clientId }]);
    expect((await get(body.id)).body).toEqual(body);
    expect(await list()).toEqual([body]);
  });

  it.each([
    ['no description', {}, null],
    ['a null description', { description: null }, null],
    ['a blank description', { description: ' ' }, null],
    ['the longest description', { description: '😀'.repeat(255) }, '😀'.repeat(255)],
    ['an unknown member', { unknown_member: 1 }, null],
  ])('accepts %s', async (_case, body, description) => {
    expect((await created(body)).description).toBe(description);
  });

  it.each([
    ['no events', {}, null],
    ['null', { events: null }, null],
    ['one event', { events: ['CARD_UPDATED'] }, ['CARD_UPDATED']],
    [
      'events in any order and twice',
      { events: ['CARD_FAILED', 'AUTHENTICATED', 'CARD_FAILED'] },
      ['AUTHENTICATED', 'CARD_FAILED'],
    ],
    ['all events', { events: [...EVENT_NAMES] }, [...EVENT_NAMES]],
  ])('accepts %s', async (_case, body, events) => {
    const endpoint = await created(body);
    expect(endpoint['events']).toEqual(events);
    expect((await get(endpoint.id)).body).toEqual(endpoint);
  });

  it('creates the lane, for which the first publications would wait', async () => {
    const { body } = await create({ environment: 'development', url: someUrl() });
    expect(await service.database.query('SELECT endpoint_id AS id FROM webhook_lane')).toContainEqual({
      id: body.id,
    });
  });

  it('creates a paused endpoint', async () => {
    const endpoint = await created({ status: 'paused' });
    expect(endpoint['status']).toBe('paused');
    expect((await get(endpoint.id)).body).toEqual(endpoint);
  });

  it.each([
    ['https://EXAMPLE.com', 'https://example.com/'],
    ['https://example.com:443/a/../b#c', 'https://example.com/b'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['https://example.com:8443/?a=b', 'https://example.com:8443/?a=b'],
    ['https://example.com./a', 'https://example.com/a'],
  ])('stores %s as %s, and accepts it once', async (written, normal) => {
    expect((await created({ url: written })).url).toBe(normal);
    for (const url of [written, normal]) {
      const { status, body } = await create({ environment: 'development', url });
      expect([status, body]).toEqual([409, ALREADY_EXISTS]);
    }
  });

  it('accepts a URL of the maximum length', async () => {
    const start = 'https://example.com/';
    const url =
      start +
      randomBytes(2_000)
        .toString('base64url')
        .slice(0, 2083 - start.length);
    expect((await created({ url })).url).toBe(url);
  });

  it('accepts a URL of the maximum number of characters, whatever the length of its normal form', async () => {
    const start = 'https://example.com/';
    const path = '😀'.repeat(2083 - start.length);
    expect((await created({ url: start + path })).url).toBe(start + encodeURI(path));
    const { status, body } = await create({ environment: 'development', url: start + path });
    expect([status, body]).toEqual([409, ALREADY_EXISTS]);
  });

  it.each([
    ['no environment', { environment: undefined }, 'The environment field is required.'],
    ['an unknown environment', { environment: 'staging' }, SELECTED_ENVIRONMENT],
    ['no url', { url: undefined }, 'The url field is required.'],
    ['a blank url', { url: ' ' }, 'The url field is required.'],
    ['a numeric url', { url: 7 }, 'The url field must be a string.'],
    ['a url that is too long', { url: `https://example.com/${'a'.repeat(2064)}` }, URL_TOO_LONG],
    ['a url of too many emoji', { url: `https://example.com/${'😀'.repeat(2064)}` }, URL_TOO_LONG],
    ['an http url', { url: 'http://example.com/' }, NOT_PUBLIC],
    ['an IP address', { url: 'https://127.0.0.1/' }, NOT_PUBLIC],
    ['a url without a scheme', { url: 'example.com' }, NOT_PUBLIC],
    ['a url with credentials', { url: 'https://user:secret@example.com/' }, NOT_PUBLIC],
    ['a description that is too long', { description: 'x'.repeat(256) }, DESCRIPTION_TOO_LONG],
    ['a description of too many emoji', { description: '😀'.repeat(256) }, DESCRIPTION_TOO_LONG],
    ['a text as events', { events: 'CARD_UPDATED' }, 'The events field must be an array.'],
    ['no event', { events: [] }, 'The events field is required.'],
    [
      'an unknown event',
      { events: ['CARD_UPDATED', 'card_failed'] },
      `The selected events[1] is invalid. ${ALLOWED_EVENTS}`,
    ],
    ['a number as event', { events: [7] }, `The selected events[0] is invalid. ${ALLOWED_EVENTS}`],
    ['a null event', { events: [null] }, 'The events[0] field is required.'],
    ['the status disabled', { status: 'disabled' }, SELECTED_STATUS],
    // One problem per response: the first in the order of the fields.
    [
      'an invalid url, events and status (reports the first)',
      { url: 'http://example.com/', events: 7, status: 7 },
      NOT_PUBLIC,
    ],
    [
      'three invalid fields (reports the first)',
      { environment: 'x', url: 7, description: 7 },
      SELECTED_ENVIRONMENT,
    ],
  ])('rejects %s', async (_case, change, message) => {
    const { status, body } = await create({ environment: 'development', url: someUrl(), ...change });
    expect([status, body]).toEqual([400, invalidField(message)]);
    expect(await rows()).toEqual([]);
  });

  it('accepts the same URL from exactly 1 of 20 concurrent requests', async () => {
    const entries = await auditedBy(service, async () => {
      const responses = await Promise.all(
        Array.from({ length: 20 }, () =>
          create({ environment: 'development', url: 'https://concurrent.example.com' }),
        ),
      );
      expect([countOf(responses, 200), countOf(responses, 409)]).toEqual([1, 19]);
      for (const { body } of responses.filter(({ status }) => status === 409))
        expect(body).toEqual(ALREADY_EXISTS);
    });
    expect(entries).toEqual(['webhook.create success https://concurrent.example.com/']);
  });

  it('accepts exactly 10 of 25 concurrent requests in each environment', async () => {
    for (const environment of ['development', 'production'] as const) {
      const responses = await Promise.all(
        Array.from({ length: 25 }, () => create({ environment, url: someUrl() }, { login: member })),
      );
      expect([countOf(responses, 200), countOf(responses, 409)]).toEqual([10, 15]);
      for (const { body } of responses.filter(({ status }) => status === 409))
        expect(body).toEqual(LIMIT_REACHED);
      expect(await list(environment, { login: member })).toHaveLength(10);
    }
    const [first] = await list();
    const again = await create({ environment: 'development', url: first?.url });
    expect([again.status, again.body]).toEqual([409, ALREADY_EXISTS]);
    await remove(String(first?.id));
    expect((await create({ environment: 'development', url: first?.url })).status).toBe(200);
    expect((await create({ environment: 'development', url: someUrl() })).body).toEqual(LIMIT_REACHED);
    expect((await created({}, { login: otherOwner })).url).toMatch(/^https/);
  });
});

describe('Webhook endpoints', () => {
  it('are listed per environment in the order in which they were created', async () => {
    const urls: string[] = [];
    for (let count = 0; count < 3; count += 1) urls.push((await created()).url);
    const production = await created({ environment: 'production' }, { login: member });
    expect((await list()).map(({ url }) => url)).toEqual(urls);
    expect(await list('production', { login: member })).toEqual([production]);
  });

  it('are listed only for a valid query', async () => {
    for (const [query, message] of [
      ['', 'The environment field is required.'],
      ['?environment=', 'The environment field is required.'],
      ['?environment=staging', SELECTED_ENVIRONMENT],
      ['?environment=development&page=2', 'The query parameter page is not known.'],
    ]) {
      const { status, body } = await service.request(`/webhook-endpoints${query}`, { token });
      expect([query, status, body]).toEqual([query, 400, invalidField(String(message))]);
    }
  });

  it('can have the same URL in both environments', async () => {
    const { url } = await created();
    await created({ url, environment: 'production' }, { login: member });
    expect(await rows()).toHaveLength(2);
  });

  it('are accessible to logins and to tokens of their environment', async () => {
    const production = await accessToken(service, member, service.production, `${READ} ${WRITE}`);
    const { id } = await created();
    const before = await rows();
    const refused = [
      await create({ environment: 'development', url: someUrl() }, { token: production }),
      await service.request('/webhook-endpoints?environment=development', { token: production }),
      await get(id, { token: production }),
      await patch(id, { description: 'x' }, { token: production }),
      await remove(id, { token: production }),
      ...(await Promise.all(ACTIONS.map((action) => act(id, action, { token: production })))),
    ];
    for (const { status, body } of refused) expect([status, body]).toEqual([403, MISMATCH]);
    expect(await rows()).toEqual(before);
    // The environment is checked before the fields.
    expect((await patch(id, { url: 'x' }, { token: production })).status).toBe(403);
    for (const role of ['owner', 'admin', 'member'] as const) {
      const login = await service.login(role);
      expect((await patch(id, { description: role }, { login })).body.description).toBe(role);
    }
    expect((await remove(id, { login: member })).status).toBe(200);
  });

  it('of another organization are not found and cannot be changed', async () => {
    const { id } = await created();
    const before = await rows();
    const entries = await auditedBy(service, async () => {
      for (const response of [
        await get(id, { login: otherOwner }),
        await patch(id, { url: someUrl() }, { login: otherOwner }),
        await patch(id, { url: 'not even a URL' }, { login: otherOwner }),
        await remove(id, { login: otherOwner }),
        ...(await Promise.all(ACTIONS.map((action) => act(id, action, { login: otherOwner })))),
      ])
        expect([response.status, response.body]).toEqual([404, ENDPOINT_NOT_FOUND]);
    });
    expect(entries).toEqual([]);
    expect(await rows()).toEqual(before);
    expect(await list('development', { login: otherOwner })).toEqual([]);
    const absent = await get(UNKNOWN_ID);
    expect([absent.status, absent.body]).toEqual([404, ENDPOINT_NOT_FOUND]);
  });
});

describe('PATCH /webhook-endpoints/:id', () => {
  it.each([
    [{}, 'The first'],
    [{ description: 'The second' }, 'The second'],
    [{ description: null }, null],
    [{ description: '  ' }, null],
    [{ url: null }, 'The first'],
    [{ url: ' ', description: 'x' }, 'x'],
    [{ environment: 'production', id: UNKNOWN_ID, created_at: 0, health: null }, 'The first'],
    [{ status: null }, 'The first'],
  ])('given %j results in the description %j', async (body, description) => {
    const endpoint = await created({ description: 'The first' });
    const response = await patch(endpoint.id, body);
    expect([response.status, response.body]).toEqual([200, { ...endpoint, description }]);
    expect((await get(endpoint.id)).body).toEqual(response.body);
  });

  it('changes the URL and nothing else', async () => {
    const endpoint = await created({ description: 'The first' });
    const { status, body } = await patch(endpoint.id, { url: 'https://OTHER.example.com' });
    expect([status, body]).toEqual([200, { ...endpoint, url: 'https://other.example.com/' }]);
    expect(await list()).toEqual([body]);
  });

  it('changes the events and nothing else', async () => {
    const endpoint = await created({ description: 'The first', events: ['CARD_FAILED'] });
    for (const [change, events] of [
      [
        ['CARD_UPDATED', 'CARD_FAILED'],
        ['CARD_FAILED', 'CARD_UPDATED'],
      ],
      [undefined, ['CARD_FAILED', 'CARD_UPDATED']],
      [null, null],
    ] as const) {
      const { status, body } = await patch(endpoint.id, { events: change });
      expect([status, body]).toEqual([200, { ...endpoint, events }]);
      expect((await get(endpoint.id)).body).toEqual(body);
    }
  });

  it('changes the URL and the status together', async () => {
    const { id } = await created();
    const url = someUrl();
    expect((await patch(id, { url, status: 'paused' })).body).toMatchObject({ url, status: 'paused' });
    expect((await list())[0]).toMatchObject({ url, status: 'paused' });
  });

  it('is audited only if something changed', async () => {
    const { id, url } = await created({ description: 'The first', events: ['CARD_FAILED'] });
    const entries = await auditedBy(service, async () => {
      await patch(id, { url: url.toUpperCase(), description: 'The first' });
      await patch(id, {});
      await patch(id, { url: 'http://example.com' });
      await patch(id, { description: null });
      await patch(id, { description: null });
      await patch(id, { events: ['CARD_FAILED', 'CARD_FAILED'], status: 'enabled' });
      await patch(id, { events: null });
      await patch(id, { status: 'paused' });
      await patch(id, { status: 'paused' });
    });
    expect(entries).toEqual(Array(3).fill(`webhook.update success ${url}`));
  });

  it.each([
    ['a numeric url', { url: 7 }, 'The url field must be a string.'],
    ['an http url', { url: 'http://example.com/' }, NOT_PUBLIC],
    ['a url that is too long', { url: `https://example.com/${'a'.repeat(2064)}` }, URL_TOO_LONG],
    ['a description that is too long', { description: 'x'.repeat(256) }, DESCRIPTION_TOO_LONG],
    ['an unknown event', { events: ['X'] }, `The selected events[0] is invalid. ${ALLOWED_EVENTS}`],
    ['the status disabled', { status: 'disabled' }, SELECTED_STATUS],
    [
      'two invalid fields (reports the first)',
      { url: 'http://example.com/', description: 'x'.repeat(256) },
      NOT_PUBLIC,
    ],
  ])('rejects %s', async (_case, change, message) => {
    const { id } = await created();
    const before = await rows();
    const { status, body } = await patch(id, change);
    expect([status, body]).toEqual([400, invalidField(message)]);
    expect(await rows()).toEqual(before);
  });

  it('rejects the URL of another endpoint', async () => {
    const [one, other] = [await created(), await created()];
    const change = { url: other.url, events: ['CARD_UPDATED'], status: 'paused' };
    const { status, body } = await patch(one.id, change);
    expect([status, body]).toEqual([409, ALREADY_EXISTS]);
    expect((await get(one.id)).body).toEqual(one);
  });

  it('gives a URL to exactly 1 of 20 concurrent updates and creates', async () => {
    const endpoints = await Promise.all(Array.from({ length: 9 }, () => created()));
    const url = 'https://wanted.example.com/';
    const responses = await Promise.all([
      ...endpoints.map(({ id }) => patch(id, { url })),
      ...Array.from({ length: 11 }, () => create({ environment: 'development', url })),
    ]);
    expect([countOf(responses, 200), countOf(responses, 409)]).toEqual([1, 19]);
    expect((await list()).filter((endpoint) => endpoint.url === url)).toHaveLength(1);
  });
});

describe('DELETE /webhook-endpoints/:id', () => {
  it('returns the deleted endpoint to exactly 1 of 20 concurrent requests', async () => {
    const endpoint = await created({ description: 'Mine' });
    const entries = await auditedBy(service, async () => {
      const responses = await Promise.all(Array.from({ length: 20 }, () => remove(endpoint.id)));
      expect([countOf(responses, 200), countOf(responses, 404)]).toEqual([1, 19]);
      expect(responses.find(({ status }) => status === 200)?.body).toEqual(endpoint);
    });
    expect(entries).toEqual([`webhook.delete success ${endpoint.url}`]);
    expect((await get(endpoint.id)).status).toBe(404);
  });

  it('responds at once however long the queue is, and drops that afterwards, page by page', async () => {
    const { id, url } = await created();
    const { database } = service;
    const statements = watchStatements(service);
    await database.query(
      `INSERT INTO webhook_delivery (endpoint_id, event_id, event_created_at, url, attempts_allowed, due_at)
       SELECT $1, gen_random_uuid(), now(), 'https://x.example', 3, now() + interval '1 day' FROM generate_series(1, 25000)`,
      [id],
    );
    const publish = () =>
      service.app
        .get(WebhookPublisher)
        .publish({ ...service.development, environment: 'development' }, exampleEvent('CARD_UPDATED'));
    const waiting = async () =>
      (
        await database.query<{ count: number }>(
          'SELECT count(*)::integer AS count FROM webhook_delivery WHERE endpoint_id = $1',
          [id],
        )
      )[0]?.count;
    const entries = await auditedBy(service, async () => {
      expect((await remove(id)).body).toMatchObject({ id, url, status: 'enabled' });
    });
    expect(entries).toEqual([`webhook.delete success ${url}`]);
    const dropping = () => statements.filter((text) => text.includes('DELETE FROM webhook_delivery')).length;
    expect([await waiting(), dropping()]).toEqual([25_000, 0]);

    // It is gone for everybody.
    expect((await remove(id)).status).toBe(404);
    expect((await get(id)).status).toBe(404);
    expect((await list()).map((each) => each.id)).not.toContain(id);
    await publish();
    expect(await waiting()).toBe(25_000);
    const again = await created({ url });
    expect(again.id).not.toBe(id);

    while (await service.app.get(WebhookEndpointsService).dropDeliveries(id));
    expect([await waiting(), dropping()]).toEqual([0, 3]);
    expect(await database.query('SELECT FROM webhook_endpoint WHERE id = $1', [id])).toEqual([]);
    expect((await get(again.id)).status).toBe(200);
  });

  it('waits for transactions that publish to the endpoint', async () => {
    const { id } = await created();
    const publisher = service.app.get(WebhookPublisher);
    let isRemoved = false;
    let removal: Promise<unknown> | undefined;
    class Publisher {
      @Transactional()
      async publish(): Promise<void> {
        await publisher.publish(
          { clientId: service.development.clientId, environment: 'development' },
          exampleEvent('CARD_UPDATED'),
        );
        removal = remove(id).then(() => (isRemoved = true));
        await pause(300);
        expect(isRemoved).toBe(false);
      }
    }
    await new Publisher().publish();
    await removal;
    expect((await get(id)).status).toBe(404);
  });
});

describe('The audit log', () => {
  it('records the actor, the action and the masked URL', async () => {
    const { id } = await created({ url: 'https://hooks.example.com/?team=7&token=abc123' });
    await patch(id, { url: 'https://hooks.example.com/?team=8&id=4fJq0vN8sYw2Lb7RtXk1' });
    await remove(id, { login: member });
    const [deletion, change, creation] = await auditEntries(service);
    const [{ body: me }] = [await service.request('/me', { login: member })];
    for (const [entry, action, name] of [
      [creation, 'webhook.create', 'https://hooks.example.com/?team=7&token=***'],
      [change, 'webhook.update', 'https://hooks.example.com/?team=8&id=***'],
      [deletion, 'webhook.delete', 'https://hooks.example.com/?team=8&id=***'],
    ] as const) {
      expect(entry).toMatchObject({
        event: { action, outcome: { status: 'success' } },
        actor: { name: me['name'], email: member.email },
        target: { type: 'webhook_endpoint', name, environment: 'development' },
      });
    }
  });
});

describe('The URL of an endpoint', () => {
  it('is shown to viewers, and to programs that may only read, without secrets', async () => {
    const url = `${someUrl()}hooks?token=4711-secret&shop=7`;
    const { id } = await created({ url });
    const masked = url.replace('4711-secret', '***');
    const viewer = await service.login('viewer');
    const urlOf = async (as: RequestOptions): Promise<unknown[]> => {
      const listed = await list('development', as);
      const { body: one } = await get(id, as);
      return [listed.find((each) => each.id === id)?.url, one.url];
    };
    expect(await urlOf({ login: await service.login('member') })).toEqual([url, url]);
    expect(await urlOf({ login: viewer })).toEqual([masked, masked]);
    const reading = await accessToken(service, await service.login('member'), service.development, READ);
    expect(await urlOf({ token: reading })).toEqual([masked, masked]);
    for (const path of ['', `/${id}`, `/${id}/recover`]) {
      const page = await fetch(`${service.baseUrl}/dashboard/development/webhook-endpoints${path}`, {
        headers: { cookie: viewer.cookie },
      });
      expect([path, page.status]).toEqual([path, 200]);
      expect(await page.text()).not.toContain('4711-secret');
    }
    await remove(id);
  });
});

describe('A deployment pinned to one environment', () => {
  it('returns 404 for endpoints of the other environment', async () => {
    await using pinned = await startTestApp({ PIN_ENVIRONMENT: 'production' });

    const login = await pinned.login('owner');
    const url = someUrl();
    const body = { environment: 'development', url };
    const refused = await pinned.request('/webhook-endpoints/create', { body, login });
    expect([refused.status, refused.body]).toEqual([
      400,
      invalidField('The selected environment is invalid. Allowed values: production.'),
    ]);
    await addEndpoint(pinned, pinned.development.clientId, url, UNKNOWN_ID);
    expect((await pinned.request(`/webhook-endpoints/${UNKNOWN_ID}`, { login })).status).toBe(404);
    const own = await pinned.request('/webhook-endpoints/create', {
      body: { environment: 'production', url },
      login,
    });
    expect(own.status).toBe(200);
  });
});

describe('The page that creates a webhook endpoint', () => {
  const NEW_ENDPOINT = '/dashboard/development/webhook-endpoints/new';

  it('says how events reach a machine whose address it refuses', async () => {
    const visitor = await visitorWithRole(service, 'member');
    const codes = async (url: string): Promise<string[]> => {
      await visitor.get(NEW_ENDPOINT);
      const { text } = await visitor.submit(NEW_ENDPOINT, { url });
      expect(text).toContain('must be a public https URL');
      return [...text.matchAll(/<code>(.*?)<\/code>/g)].map(([, code = '']) => code);
    };
    for (const url of [
      'http://localhost:4000/webhooks',
      'http://app.localhost',
      'http://127.0.0.1:4000',
      'http://10.0.0.7/',
    ])
      expect(await codes(url)).toEqual([`npx mcs listen --forward-to ${url}`]);
    for (const url of ['http://example.com/', "http://localhost/'$(id)'", 'http://localhost.example.com/'])
      expect(await codes(url)).toEqual([]);
  });
});
