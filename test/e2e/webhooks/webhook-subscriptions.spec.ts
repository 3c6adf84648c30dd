import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { Transactional } from '../../../src/infrastructure/database/index.js';
import { Mailer, type RenderedMail } from '../../../src/infrastructure/messages/index.js';
import type { EventName } from '../../../src/infrastructure/event-catalog/index.js';
import { WebhookEndpointsService } from '../../../src/modules/webhook-endpoints/index.js';
import { exampleEvent, WebhookPublisher } from '../../../src/modules/webhooks/index.js';
import { DisabledEndpointsJob } from '../../../src/modules/webhooks/failing-endpoints/disabled-endpoints.job.js';
import { FailingEndpointsJob } from '../../../src/modules/webhooks/failing-endpoints/failing-endpoints.job.js';
import { FailingEndpointsRepository } from '../../../src/modules/webhooks/failing-endpoints/failing-endpoints.repository.js';
import { ResendsRepository } from '../../../src/modules/webhooks/resends/resends.repository.js';
import { DeliveryWorker } from '../../../src/modules/webhooks/worker/delivery-worker.js';
import { WebhookDeliveriesConfiguration } from '../../../src/modules/webhooks/webhook-deliveries.configuration.js';
import { sendEmails } from '../../support/messages/mails.js';
import { auditedBy, auditEntries } from '../../support/logs/audited.js';
import { eventually } from '../../support/eventually.js';
import { error, invalidField, useTestApp, useLogin } from '../../support/test-app.js';
import { visitorWithRole } from '../../support/pages/visitor.js';
import { useReceiver } from '../../support/webhooks/webhook-receiver.js';

const DISABLED = error(
  'WEBHOOK_ENDPOINT_ERROR',
  'WEBHOOK_ENDPOINT_DISABLED',
  'The webhook endpoint is disabled. Change its status to enabled first.',
);
const WARNING = 'A webhook endpoint is failing';
const ANNOUNCEMENT = 'A webhook endpoint was disabled';
const LONG_AGO = '2026-01-31T08:00:00Z';

const service = useTestApp(
  { WEBHOOK_TARGETS: 'any', WEBHOOK_RETRY_SECONDS: '0,0' },
  { backgroundWork: true },
);
const receiver = useReceiver();
const owner = useLogin(service, 'owner');

beforeAll(async () => {
  for (const role of ['admin', 'member'] as const) await service.login(role);
});
beforeEach(async () => {
  await queueIsEmpty();
  await service.database.query('DELETE FROM webhook_endpoint');
  receiver.arrivals.length = 0;
  receiver.response = 200;
});

interface Endpoint extends Record<string, unknown> {
  readonly id: string;
}

const create = async (body: object = {}): Promise<Endpoint> => {
  const response = await service.request<Endpoint>('/webhook-endpoints/create', {
    body: { environment: 'development', url: `${receiver.url}/hook`, ...body },
    login: owner,
  });
  expect([response.status, response.body]).toEqual([200, expect.anything()]);
  return response.body;
};
const patch = async (id: string, body: object) =>
  (await service.request<Endpoint>(`/webhook-endpoints/${id}`, { method: 'PATCH', body, login: owner })).body;
const get = async (id: string) =>
  (await service.request<Endpoint>(`/webhook-endpoints/${id}`, { login: owner })).body;
const act = (verb: string, id: string, body: object) =>
  service.request(`/webhook-endpoints/${id}/${verb}`, { body, login: owner });

const client = () => ({ clientId: service.development.clientId, environment: 'development' as const });
const publish = (name: EventName = 'CARD_UPDATED'): Promise<string> =>
  service.app.get(WebhookPublisher).publish(client(), exampleEvent(name));

const arrivedIds = (): unknown[] => receiver.arrivals.map(({ headers }) => headers['webhook-id']);
const deliveries = () =>
  service.database.query<{ event_id: string }>('SELECT event_id FROM webhook_delivery ORDER BY id');

/** Waits until nothing is left to be sent now. Deliveries of paused endpoints remain. */
const queueIsEmpty = () =>
  eventually('the queue is empty', async () => {
    await service.database.query(
      // Narrow lanes would be probed, and retries found, only once a second.
      `UPDATE webhook_lane SET not_before = '-infinity', consecutive_failures = LEAST(consecutive_failures, 1)`,
    );
    service.app.get(DeliveryWorker).onLaneDue();
    const [row] = await service.database.query<{ count: number }>(
      `SELECT count(*)::integer FROM webhook_delivery JOIN webhook_lane USING (endpoint_id)
        WHERE paused_at IS NULL OR claim_id IS NOT NULL`,
    );
    return row?.count === 0;
  });

/** Requests a recovery and waits until it is finished. @returns how many deliveries it queued */
async function recovered(id: string, since: unknown = LONG_AGO): Promise<unknown> {
  expect((await act('recover', id, { since })).status).toBe(202);
  return eventually('the recovery is finished', async () => {
    const { body } = await service.request(`/webhook-endpoints/${id}/recover`, { login: owner });
    return body['status'] === 'finished' ? { queued: body['queued'] } : undefined;
  });
}

describe('An endpoint with chosen events', () => {
  it('gets these events and no others', async () => {
    await create({ events: ['CARD_FAILED', 'CARD_UPDATED'] });
    await create({ url: `${receiver.url}/all` });
    const names = ['CARD_UPDATED', 'AUTHENTICATED', 'CARD_FAILED'] as const;
    for (const name of names) await publish(name);
    await service.app
      .get(WebhookPublisher)
      .publishAll(names.map((name) => ({ client: client(), event: exampleEvent(name) })));
    class Publisher {
      @Transactional()
      async publish(): Promise<void> {
        for (const name of names) await publish(name);
      }
    }
    await new Publisher().publish();
    await receiver.arrived(9, '/all');
    await queueIsEmpty();
    const arrived = receiver.arrivals.filter(({ path }) => path === '/hook');
    expect(arrived.map(({ event }) => event['event']).toSorted()).toEqual([
      ...Array<string>(3).fill('CARD_FAILED'),
      ...Array<string>(3).fill('CARD_UPDATED'),
    ]);
    expect(receiver.arrivals).toHaveLength(15);
  });

  it('gets all events again after its events are set to null', async () => {
    const { id } = await create({ events: ['CARD_FAILED'] });
    expect(await patch(id, { events: null })).toMatchObject({ events: null });
    await publish('AUTHENTICATED');
    await receiver.arrived(1);
  });

  it('gets test events of any name, also again', async () => {
    const { id } = await create({ events: ['CARD_FAILED'] });
    const { body } = await act('test', id, { event: 'AUTHENTICATED' });
    expect(body).toMatchObject({ received: true });
    expect((await act('redeliver', id, { event_id: body['event_id'] })).body).toEqual({ queued: 1 });
    await receiver.arrived(2);
  });

  it('gets no other event by redelivery or recovery', async () => {
    const { id } = await create();
    receiver.response = 500;
    const [updated, failed] = [await publish('CARD_UPDATED'), await publish('CARD_FAILED')];
    await queueIsEmpty();
    await patch(id, { events: ['CARD_FAILED'] });
    receiver.response = 200;
    receiver.arrivals.length = 0;
    const { status, body } = await act('redeliver', id, { event_id: updated });
    expect([status, body]).toEqual([
      400,
      invalidField('The selected event id is invalid: the endpoint is not subscribed to CARD_UPDATED.'),
    ]);
    expect(await recovered(id)).toEqual({ queued: 1 });
    await receiver.arrived(1);
    // Until the attempt is settled, the event counts as being sent.
    await queueIsEmpty();
    expect((await act('redeliver', id, { event_id: failed })).body).toEqual({ queued: 1 });
    await receiver.arrived(2);
    await queueIsEmpty();
    expect(arrivedIds()).toEqual([failed, failed]);
  });
});

describe('A paused endpoint', () => {
  it('keeps its events until it is enabled, but gets test events', async () => {
    const { id, ...created } = await create({ status: 'paused' });
    expect(created).toMatchObject({ status: 'paused', health: { disabled_reason: null } });
    const waiting = await publish();
    const { body } = await act('test', id, {});
    expect(body).toMatchObject({ received: true });
    expect(await deliveries()).toEqual([{ event_id: waiting }]);
    const entries = await auditedBy(service, async () => {
      expect(await patch(id, { status: 'paused' })).toMatchObject({ status: 'paused' });
      expect(await patch(id, { status: 'enabled' })).toMatchObject({ status: 'enabled' });
      expect(await patch(id, { status: null })).toMatchObject({ status: 'enabled' });
      expect(await patch(id, { status: 'enabled' })).toMatchObject({ status: 'enabled' });
    });
    expect(entries).toEqual([`webhook.update success ${receiver.url}/hook`]);
    await receiver.arrived(2);
    expect(arrivedIds()).toEqual([body['event_id'], waiting]);
  });

  it('can be paused while it has no deliveries yet', async () => {
    const { id } = await create();
    expect(await patch(id, { status: 'paused' })).toMatchObject({ status: 'paused' });
    await publish();
    // Longer than a worker's poll interval.
    await pause(1_200);
    expect(receiver.arrivals).toEqual([]);
    expect(await deliveries()).toHaveLength(1);
  });
});

describe('An endpoint that keeps failing', () => {
  let mails: RenderedMail[];
  let deliver: Mailer['deliver'];

  beforeAll(() => {
    const mailer = service.app.get(Mailer);
    deliver = mailer.deliver.bind(mailer);
    mailer.deliver = async (mail) => void mails.push(mail);
  });
  afterAll(() => {
    service.app.get(Mailer).deliver = deliver;
  });
  beforeEach(() => {
    mails = [];
  });

  /** Runs the job, sends the emails that it wrote, and runs it again: it notes what was sent. */
  async function runJob(): Promise<void> {
    const job = service.app.get(FailingEndpointsJob, { strict: false });
    await job.run();
    await sendEmails(service);
    await job.run();
  }
  const subjects = () => mails.map(({ to, subject }) => `${to}: ${subject}`).toSorted();
  /** All owners and admins, among them the first owner of the organization. */
  const toAll = async (subject: string): Promise<string[]> => {
    const users = await service.database.query<{ email: string }>(
      `SELECT email FROM dashboard_user WHERE organization_id = $1 AND role IN ('owner', 'admin')`,
      [service.organizationId],
    );
    expect(users).toHaveLength(3);
    return users.map(({ email }) => `${email}: ${subject}`).toSorted();
  };

  /** Publishes an event that fails, and moves what happened so far into the past. */
  async function failFor(days: number): Promise<void> {
    receiver.response = 503;
    await publish();
    await queueIsEmpty();
    await service.database.query(
      `UPDATE webhook_lane SET failing_since = failing_since - $1 * interval '1 day',
                               last_success_at = last_success_at - $1 * interval '1 day',
                               notified_at = notified_at - $1 * interval '1 day'`,
      [days],
    );
    await publish();
    await queueIsEmpty();
  }

  /** Creates an endpoint that was warned and then disabled. */
  async function disabled(body: object = {}): Promise<string> {
    const { id } = await create(body);
    await failFor(1.1);
    await runJob();
    await failFor(4.1);
    await runJob();
    expect(await get(id)).toMatchObject({ status: 'disabled' });
    receiver.response = 200;
    receiver.arrivals.length = 0;
    return id;
  }

  it('is disabled after a warning on the second day', async () => {
    const { id } = await create({ url: `${receiver.url}/hook?token=abc123` });
    await failFor(0.9);
    await runJob();
    expect(subjects()).toEqual([]);

    await failFor(0.2);
    await runJob();
    expect(subjects()).toEqual(await toAll(WARNING));
    const text = mails.find(({ to }) => to === owner.email)?.text;
    for (const part of [id, 'Environment: development', `${receiver.url}/hook?token=***`])
      expect(text).toContain(part);
    expect(text).toMatch(/in about 4\sdays/);
    // The email and the overview may be read days after the last attempt.
    expect(text).toContain(`endpoint_id=${id}&outcome=failure&period=7d`);
    const overview = await (await visitorWithRole(service, 'viewer')).get('/dashboard/development');
    expect(overview.text).toContain(`outcome=failure&amp;endpoint_id=${id}&amp;period=7d`);
    mails.length = 0;
    await runJob();
    expect(subjects()).toEqual([]);

    await failFor(3.8);
    await runJob();
    expect(await get(id)).toMatchObject({ status: 'enabled', health: { disabled_reason: null } });

    await failFor(0.3);
    const entries = await auditedBy(service, runJob);
    expect(entries).toEqual([`webhook.update success ${receiver.url}/hook?token=***`]);
    const [entry] = await auditEntries(service);
    expect(entry).toMatchObject({
      actor: { name: 'system', email: 'system' },
      target: { type: 'webhook_endpoint', environment: 'development' },
    });
    expect(await get(id)).toMatchObject({ status: 'disabled', health: { disabled_reason: 'failing' } });
    expect(subjects()).toEqual(await toAll(ANNOUNCEMENT));
    expect(mails.find(({ to }) => to === owner.email)?.text).toContain(
      `${service.baseUrl}/dashboard/development/webhook-endpoints/${id}`,
    );
    mails.length = 0;
    expect(await auditedBy(service, runJob)).toEqual([]);
    expect(subjects()).toEqual([]);
  });

  it('is announced once as disabled, although a test has succeeded before the announcement', async () => {
    const { id } = await create();
    await failFor(1.1);
    await runJob();
    await failFor(4.1);
    mails.length = 0;
    await service.app.get(FailingEndpointsJob, { strict: false }).run();
    receiver.response = 200;
    const test = () => service.request(`/webhook-endpoints/${id}/test`, { body: {}, login: owner });
    expect((await test()).body).toMatchObject({ status_code: 200 });
    await runJob();
    expect(subjects()).toEqual(await toAll(ANNOUNCEMENT));
    // The failures of the lane begin again.
    receiver.response = 503;
    await test();
    await runJob();
    expect(subjects()).toEqual(await toAll(ANNOUNCEMENT));
  });

  it('is not disabled if it has succeeded once', async () => {
    const { id } = await create();
    await failFor(1.1);
    await runJob();
    receiver.response = 200;
    await publish();
    await queueIsEmpty();
    await failFor(4.1);
    await runJob();
    expect(await get(id)).toMatchObject({ status: 'enabled' });
    // The clock has started again: the second warning comes a day after the success.
    expect(subjects().filter((subject) => subject.startsWith(owner.email))).toHaveLength(2);
  });

  it('is not disabled for a success that the previous release settled', async () => {
    const { id } = await create();
    await failFor(1.1);
    await runJob();
    await failFor(4.1);
    await service.database.query('UPDATE webhook_lane SET last_success_at = now()');
    await runJob();
    expect(await get(id)).toMatchObject({ status: 'enabled' });
  });

  it('is warned before it is disabled, however long it has failed', async () => {
    const { id } = await create();
    await failFor(30);
    await runJob();
    expect(subjects()).toEqual(await toAll(WARNING));
    expect(await get(id)).toMatchObject({ status: 'enabled' });
  });

  it('is neither warned nor disabled while no email can be sent', async () => {
    const mailer = service.app.get(Mailer);
    const working = mailer.send.bind(mailer);
    mailer.send = () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNECTION' }));
    const { id } = await create();
    await failFor(1.1);
    await runJob();
    await failFor(9);
    await runJob();
    expect(await get(id)).toMatchObject({ status: 'enabled' });
    mailer.send = working;
    await service.database.query('UPDATE outgoing_email SET due_at = now() WHERE outcome IS NULL');
    await runJob();
    // The failures began earlier after `failFor`, which led to another warning.
    expect([...new Set(subjects())]).toEqual(await toAll(WARNING));
  });

  it('is neither warned nor disabled if WEBHOOK_DISABLE_AFTER_DAYS is 0', async () => {
    const configuration = service.app.get(WebhookDeliveriesConfiguration);
    const { id } = await create();
    await failFor(1.1);
    configuration.disableAfterDays = 0;
    await runJob();
    expect(subjects()).toEqual([]);
    configuration.disableAfterDays = 5;
    await runJob();
    configuration.disableAfterDays = 0;
    await failFor(4.1);
    await runJob();
    configuration.disableAfterDays = 5;
    expect(await get(id)).toMatchObject({ status: 'enabled' });
  });

  it('restarts its time when it is resumed or gets another URL', async () => {
    const { id } = await create();
    await failFor(1.1);
    await runJob();
    await patch(id, { status: 'paused' });
    await patch(id, { status: 'enabled' });
    await failFor(0.5);
    await patch(id, { url: `${receiver.url}/other` });
    await failFor(0.9);
    await runJob();
    expect(await get(id)).toMatchObject({ status: 'enabled' });
    expect(subjects()).toEqual(await toAll(WARNING));
  });

  it('gets no events while it is disabled, except test events, and all missed events from a recovery', async () => {
    const id = await disabled({ events: ['CARD_UPDATED'] });
    const { body: test } = await act('test', id, {});
    expect(test).toMatchObject({ received: true });
    const missed = [await publish(), await publish()];
    await publish('AUTHENTICATED');
    expect(await deliveries()).toEqual([]);
    for (const [verb, body] of [
      ['redeliver', { event_id: missed[0] }],
      ['recover', { since: LONG_AGO }],
    ] as const) {
      const response = await act(verb, id, body);
      expect([response.status, response.body]).toEqual([409, DISABLED]);
    }
    expect(await deliveries()).toEqual([]);

    const entries = await auditedBy(service, async () => {
      expect(await patch(id, { status: 'enabled' })).toMatchObject({
        status: 'enabled',
        health: { disabled_reason: null },
      });
    });
    expect(entries).toEqual([`webhook.update success ${receiver.url}/hook`]);
    receiver.arrivals.length = 0;
    const next = await publish();
    await receiver.arrived(1);
    // The four events that failed before, and the two that were never sent.
    expect(await recovered(id)).toEqual({ queued: 6 });
    await receiver.arrived(7);
    await queueIsEmpty();
    expect(arrivedIds()).toHaveLength(7);
    expect(new Set(arrivedIds()).size).toBe(7);
    expect(arrivedIds()).toEqual(expect.arrayContaining([next, ...missed]));
    expect(await recovered(id)).toEqual({ queued: 0 });
  });

  it('recovers a rare event, however many others were published before it', async () => {
    const id = await disabled({ events: ['CARD_UPDATED'] });
    await service.database.query(
      `INSERT INTO webhook_event (id, created_at, client_id, environment, event, body)
       SELECT gen_random_uuid(), now(), $1, 'development', 'AUTHENTICATED', '{}' FROM generate_series(1, 2500)`,
      [service.development.clientId],
    );
    const missed = await publish();
    await patch(id, { status: 'enabled' });
    const progress = import.meta.jest.spyOn(
      service.app.get(ResendsRepository, { strict: false }),
      'progress',
    );
    // The four events that failed before, and the rare one.
    expect(await recovered(id)).toEqual({ queued: 5 });
    const read = progress.mock.calls.flatMap(([, { position }]) =>
      position?.of === 'events' ? [position] : [],
    );
    progress.mockRestore();
    expect(read).toHaveLength(3);
    await receiver.arrived(5);
    expect(arrivedIds()).toContain(missed);
    await service.database.query(`DELETE FROM webhook_event WHERE event = 'AUTHENTICATED' AND body = '{}'`);
  });

  it('recovers an event that another transaction began to publish before it was enabled', async () => {
    const id = await disabled();
    const eventId = randomUUID();
    let recovery: Promise<unknown> | undefined;
    await service.app.get(DataSource).transaction(async (publisher) => {
      await publisher.query(
        `INSERT INTO webhook_event (id, created_at, client_id, environment, event, body)
         VALUES ($1, now(), $2, 'development', 'CARD_UPDATED', '{}')`,
        [eventId, service.development.clientId],
      );
      await patch(id, { status: 'enabled' });
      recovery = recovered(id);
      // The job runs each second.
      await pause(2_000);
    });
    // The four events that failed before, and this one.
    expect(await recovery).toEqual({ queued: 5 });
    await receiver.arrived(5);
    expect(arrivedIds()).toContain(eventId);
    await service.database.query('DELETE FROM webhook_event WHERE id = $1', [eventId]);
  });

  it('can be enabled by a process whose clock is far behind that of the worker', async () => {
    const id = await disabled();
    await service.database.query(`UPDATE webhook_endpoint SET disabled_at = now() + interval '1 hour'`);
    expect(await patch(id, { status: 'enabled' })).toMatchObject({ status: 'enabled' });
  });

  it('drops its waiting deliveries when it is disabled, and recovers their events', async () => {
    const id = await disabled();
    // Deliveries that were published at the moment when the endpoint was disabled.
    const waiting = await publish();
    await service.database.query(
      `INSERT INTO webhook_delivery (endpoint_id, event_id, event_created_at, url, attempts_allowed, due_at)
       SELECT $1, id, created_at, $2, 3, now() FROM webhook_event WHERE id = $3`,
      [id, `${receiver.url}/hook`, waiting],
    );
    // An event from long before, which the pile in the queue has delayed.
    await service.database.query(`UPDATE webhook_delivery SET event_created_at = now() - interval '2 days'`);
    await service.app.get(DisabledEndpointsJob, { strict: false }).run();
    expect(await deliveries()).toEqual([]);
    const [row] = await service.database.query<{ since: Date }>(
      'SELECT lower(missed_periods) AS since FROM webhook_endpoint WHERE id = $1',
      [id],
    );
    expect(Math.round((Date.now() - Number(row?.since)) / 3_600_000)).toBe(48);
    await patch(id, { status: 'enabled' });
    expect(await recovered(id)).toEqual({ queued: 5 });
    await receiver.arrived(5);
    expect(arrivedIds()).toContain(waiting);
  });

  it('is removed after it was deleted, although a process of version 0.3.0 has enabled it', async () => {
    const { id } = await create();
    const earlier = await publish();
    await receiver.arrived(1);
    await queueIsEmpty();
    // As an endpoint is hidden that has a long queue.
    await service.database.query(
      `UPDATE webhook_endpoint SET deleted_at = now(), url = 'deleted:' || id WHERE id = $1`,
      [id],
    );
    await publish();
    expect(await deliveries()).toEqual([]);
    await service.database.query(
      `INSERT INTO webhook_delivery (endpoint_id, event_id, event_created_at, url, attempts_allowed, due_at)
       SELECT $1, id, created_at, $2, 3, now() + interval '1 hour' FROM webhook_event WHERE id = $3`,
      [id, `${receiver.url}/hook`, earlier],
    );
    await service.app.get(DisabledEndpointsJob, { strict: false }).run();
    expect(await deliveries()).toEqual([]);
    expect(await service.database.query('SELECT FROM webhook_endpoint WHERE id = $1', [id])).toEqual([]);
    expect(receiver.arrivals).toHaveLength(1);
  });

  it('is emptied although another one cannot be', async () => {
    const job = service.app.get(DisabledEndpointsJob, { strict: false });
    const repository = service.app.get(FailingEndpointsRepository, { strict: false });
    const endpoints = service.app.get(WebhookEndpointsService, { strict: false });
    const dropped: string[] = [];
    const toEmpty = import.meta.jest.spyOn(repository, 'toEmpty').mockResolvedValue(['broken', 'long']);
    const drop = import.meta.jest.spyOn(endpoints, 'dropDeliveries').mockImplementation((id) => {
      dropped.push(id);
      return id === 'broken'
        ? Promise.reject(new Error('cannot be emptied'))
        : Promise.resolve(dropped.length < 5);
    });
    await job.run();
    toEmpty.mockRestore();
    drop.mockRestore();
    expect(dropped).toEqual(['broken', 'long', 'long', 'long', 'long']);
  });

  it('loses no event that is published while it is being disabled or enabled', async () => {
    const { id } = await create();
    await failFor(1.1);
    await runJob();
    await failFor(4.1);
    const received = new Set<unknown>();
    let hasRecovered = false;
    receiver.response = (response, { headers }) => {
      if (hasRecovered) received.add(headers['webhook-id']);
      response.writeHead(hasRecovered ? 200 : 503).end();
    };
    const published: string[] = [];
    let isPublishing = true;
    const publishers = Array.from({ length: 3 }, async () => {
      while (isPublishing) {
        published.push(await publish());
        await pause(5);
      }
    });
    await runJob();
    expect(await get(id)).toMatchObject({ status: 'disabled' });
    hasRecovered = true;
    await pause(50);
    await patch(id, { status: 'enabled' });
    await pause(50);
    isPublishing = false;
    await Promise.all(publishers);
    await queueIsEmpty();
    expect(received.size).toBeLessThan(published.length);
    await recovered(id);
    await eventually('all events are received', () => published.every((each) => received.has(each)));
  });

  it('can be changed from disabled to paused', async () => {
    const id = await disabled();
    expect(await patch(id, { status: 'paused' })).toMatchObject({
      status: 'paused',
      health: { disabled_reason: null },
    });
    const waiting = await publish();
    await runJob();
    expect(await deliveries()).toEqual([{ event_id: waiting }]);
  });
});
