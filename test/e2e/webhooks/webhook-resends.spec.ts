import { randomUUID } from 'node:crypto';
import type { EventName } from '../../../src/infrastructure/event-catalog/index.js';
import { MAX_PERIOD } from '../../../src/modules/request-logs/index.js';
import { exampleEvent, WebhookPublisher } from '../../../src/modules/webhooks/index.js';
import { auditEntries } from '../../support/logs/audited.js';
import { addUser, auditOf, type TestUser } from '../../support/pages/dashboard-users.js';
import { eventually } from '../../support/eventually.js';
import { useTestApp, type Login, useLogin } from '../../support/test-app.js';
import { seenOn, Visitor, visitorWithRole, type PageResponse, textOf } from '../../support/pages/visitor.js';
import {
  useReceiver,
  RETRY_AT_ONCE,
  queueIsEmpty,
  copyFailure,
} from '../../support/webhooks/webhook-receiver.js';

const DASHBOARD = '/dashboard/development';
const PLAN = `${DASHBOARD}/events/failed/send-again`;
const LOG = `${DASHBOARD}/request-logs`;

const service = useTestApp(RETRY_AT_ONCE, { backgroundWork: true });
const receiver = useReceiver();
const owner = useLogin(service, 'owner');
let user: TestUser;
let visitor: Visitor;
beforeEach(async () => {
  // Also deletes the deliveries.
  await service.database.query('DELETE FROM webhook_endpoint');
  await service.database.query('DELETE FROM request_log');
  receiver.arrivals.length = 0;
  receiver.response = 200;
  user = await addUser(service);
  visitor = new Visitor(service);
  await visitor.logIn(user.email, user.password);
});

async function createEndpoint(body: object = {}, login = owner): Promise<string> {
  const { body: endpoint } = await service.request<{ id: string }>('/webhook-endpoints/create', {
    body: { environment: 'development', url: `${receiver.url}/hook`, ...body },
    login,
  });
  return endpoint.id;
}

const publish = (name: EventName = 'CARD_UPDATED', clientId = service.development.clientId) =>
  service.app.get(WebhookPublisher).publish({ clientId, environment: 'development' }, exampleEvent(name));

/** Publishes events whose three attempts fail at each endpoint. */
async function failed(...names: EventName[]): Promise<string[]> {
  receiver.response = 500;
  const ids = await Promise.all(names.map((name) => publish(name)));
  await queueIsEmpty(service);
  receiver.response = 200;
  receiver.arrivals.length = 0;
  return ids;
}

/** Returns the fields of the form that starts the resend. */
function fieldsOf({ text }: PageResponse): Record<string, string> {
  const valueOf = (name: string): string =>
    new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  return { resend_id: valueOf('resend_id'), query: valueOf('query') };
}

const planOf = (parameters: string, who = visitor): Promise<PageResponse> => who.get(`${PLAN}?${parameters}`);
const selection = (...selected: string[]): string =>
  String(new URLSearchParams(['none', ...selected].map((each) => ['selected', each])));

/** Opens the plan and starts it. @returns the path of the page with the progress */
async function start(parameters: string): Promise<string> {
  const plan = await planOf(parameters);
  const started = await visitor.submit(PLAN, fieldsOf(plan));
  expect([started.status, started.location]).toEqual([303, expect.stringMatching(/\?done=started&live=on$/)]);
  return started.location ?? '';
}

const finished = (path: string): Promise<string> =>
  eventually('the resend is finished', async () => {
    const text = textOf(await visitor.get(path));
    return / (?:Sending|Finished) /.test(text) && text;
  });

const arrivedIds = (): unknown[] => receiver.arrivals.map(({ headers }) => headers['webhook-id']).toSorted();

const resends = (): Promise<{ selected: number; handled: number; queued: number; received: number }[]> =>
  service.database.query('SELECT selected, handled, queued, received FROM webhook_recovery ORDER BY 1');

async function countOfRunning(): Promise<number> {
  const rows = await service.database.query('SELECT FROM webhook_recovery WHERE finished_at IS NULL');
  return rows.length;
}

describe('The page before failed deliveries are sent again', () => {
  it('sends nothing to an address that it has not shown', async () => {
    const id = await createEndpoint();
    const [event = ''] = await failed('CARD_UPDATED');
    const plan = await planOf('');
    const path = `${DASHBOARD}/events/${event}`;
    const single = seenOn((await visitor.get(path)).text);
    await service.request(`/webhook-endpoints/${id}`, {
      method: 'PATCH',
      body: { url: `${receiver.url}/elsewhere` },
      login: owner,
    });
    for (const [address, fields] of [
      [PLAN, { ...fieldsOf(plan), seen: seenOn(plan.text) }],
      [path, { endpoint_id: id, seen: single }],
    ] as const) {
      const refused = await visitor.submit(address, fields);
      expect([refused.status, refused.text]).toEqual([
        400,
        expect.stringContaining('was changed after you opened'),
      ]);
      expect(refused.text).toContain(`${receiver.url}/elsewhere`);
    }
    expect([await countOfRunning(), receiver.arrivals.length]).toEqual([0, 0]);
  });

  it('says how many deliveries of a filter would be sent, to which endpoints, and of which period', async () => {
    await createEndpoint();
    await createEndpoint({ url: `${receiver.url}/cards`, events: ['CARD_UPDATED'] });
    await publish('CARD_UPDATED');
    await queueIsEmpty(service);
    await failed('CARD_UPDATED', 'CARD_UPDATED', 'CARD_FAILED');
    const all = textOf(await planOf(''));
    expect(all).toMatch(
      /Send 5 deliveries again\?.* Failed from \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC to \d{4}/,
    );
    expect(all).toMatch(/\/hook Healthy 3 .*\/cards Healthy 2 /);
    expect(textOf(await planOf('event=CARD_FAILED'))).toMatch(/Send 1 delivery again\?.* Event CARD_FAILED/);
    expect(textOf(await planOf('status_code=500&event=CARD_UPDATED'))).toContain('Send 4 deliveries again?');
    for (const none of [
      'status_code=503',
      'external_user_id=nobody',
      'type=request',
      'error_code=INVALID_FIELD',
    ])
      expect([none, textOf(await planOf(none))]).toEqual([
        none,
        expect.stringContaining('Nothing to send again'),
      ]);
    const future = await planOf('start=2030-01-01T00:00:00Z&end=2030-01-02T00:00:00Z');
    expect(textOf(future)).toContain('No failed delivery can be sent again');
  });

  it('sends all of the longest period again, and Cancel leads back to the list', async () => {
    await createEndpoint();
    await failed('CARD_UPDATED');
    const followed = (text: string, pattern: RegExp): string =>
      pattern.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? 'no link';
    const log = `${LOG}?type=webhook&outcome=failure&period=7d`;
    for (const [list, cancelled] of [
      [PLAN.replace('/failed/send-again', ''), /\/events(?:\?|$)/],
      [log, /\/request-logs\?/],
    ] as const) {
      const { text } = await visitor.get(list);
      const plan = await visitor.get(followed(text, /href="([^"]+)">Send (?:all )?failed again/));
      expect(textOf(plan)).toMatch(/Send \d+ deliver(?:y|ies) again\?/);
      const cancel = followed(plan.text, /href="([^"]+)"[^>]*>\s*Cancel/);
      expect(cancel).toMatch(cancelled);
      const back = await visitor.get(cancel);
      expect([back.status, textOf(back)]).toEqual([200, expect.not.stringContaining('must be at most')]);
      const started = await visitor.submit(PLAN, fieldsOf(plan));
      expect(started.status).toBe(303);
      const attempts = followed(
        (await visitor.get(started.location ?? '')).text,
        /href="([^"]+)"[^>]*>\s*Attempts since then/,
      );
      // Otherwise, the period would be too long after a week.
      const { searchParams } = new URL(attempts, service.baseUrl);
      const [start, end] = ['start', 'end'].map((name) => Date.parse(searchParams.get(name) ?? ''));
      expect(Number(end) - Number(start)).toBe(MAX_PERIOD);
      expect(searchParams.get('type')).toBe('webhook');
      expect((await visitor.get(attempts)).status).toBe(200);
      await eventually('the resend has ended', async () => (await countOfRunning()) === 0);
      await queueIsEmpty(service);
      await failed('CARD_UPDATED');
    }
  });

  it('leaves out what is being sent, tests, other subscriptions and disabled endpoints', async () => {
    const hook = await createEndpoint();
    const other = await createEndpoint({ url: `${receiver.url}/other` });
    const disabled = await createEndpoint({ url: `${receiver.url}/disabled` });
    const ids = await failed('CARD_UPDATED', 'CARD_FAILED');
    receiver.response = 204;
    await service.request(`/webhook-endpoints/${hook}/test`, { body: {}, login: owner });
    await service.request(`/webhook-endpoints/${other}`, {
      method: 'PATCH',
      body: { events: ['CARD_FAILED'], status: 'paused' },
      login: owner,
    });
    await service.request(`/webhook-endpoints/${other}/redeliver`, {
      body: { event_id: ids[1] },
      login: owner,
    });
    await service.database.query('UPDATE webhook_endpoint SET disabled_at = now() WHERE id = $1', [disabled]);
    const plan = textOf(await planOf(''));
    expect(plan).toContain('Send 2 deliveries again?');
    expect(plan).toMatch(/Left out: 1 delivery: being sent now 4 deliveries: tests/);
    await service.database.query('DELETE FROM webhook_delivery');
  });

  it('considers the newest 10,000 failed attempts, and leads to the earlier ones', async () => {
    await createEndpoint();
    const [eventId] = await failed('CARD_UPDATED');
    await copyFailure(service, eventId, 10_050, 5);
    const newest = await planOf('');
    // The first event has three attempts.
    expect(textOf(newest)).toContain('Send 9,998 deliveries again?');
    expect(textOf(newest)).toContain('There are more failed deliveries');
    const [, earlier = ''] = /href="([^"]+)">Earlier deliveries/.exec(newest.text) ?? [];
    // Both include the attempt at the boundary.
    expect(textOf(await visitor.get(earlier.replaceAll('&amp;', '&')))).toContain(
      'Send 54 deliveries again?',
    );
  });

  it('accepts at most 100 selected deliveries, and none', async () => {
    await createEndpoint();
    const [id = ''] = await failed('CARD_UPDATED');
    expect(textOf(await planOf(selection()))).toContain('No failed delivery is selected');
    expect(textOf(await planOf(selection('x', `${id}.x`, randomUUID())))).toContain(
      'No failed delivery is selected',
    );
    const many = [id, ...Array.from({ length: 99 }, () => randomUUID())];
    expect(textOf(await planOf(selection(...many)))).toContain('Send 1 delivery again?');
    const tooMany = await planOf(selection(...many, randomUUID()));
    expect([tooMany.status, textOf(tooMany)]).toEqual([
      400,
      expect.stringContaining('At most 100 deliveries can be selected.'),
    ]);
    expect((await planOf('unknown=1')).status).toBe(400);
    for (const [parameters, problem] of [
      ['status_code=1', 'The “Status code” field'],
      [
        'start=2026-02-01T00:00:00Z&end=2026-01-01T00:00:00Z',
        'The “From” field must not be after the “To” field.',
      ],
    ] as const) {
      const refused = await planOf(parameters);
      expect([refused.status, textOf(refused)]).toEqual([400, expect.stringContaining(problem)]);
    }
  });
});

describe('The audit log', () => {
  it('names the event that was sent again, and from when on an endpoint recovers, once each', async () => {
    const endpoint = await createEndpoint({ status: 'paused' });
    const event_id = await publish();
    await service.database.query('DELETE FROM webhook_delivery');
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const path = `/webhook-endpoints/${endpoint}`;
    const viewer = await service.login('viewer');
    const send = async (login: Login) =>
      (await service.request(`${path}/redeliver`, { body: { event_id }, login })).status;
    const recover = async (login: Login) =>
      (await service.request(`${path}/recover`, { body: { since }, login })).status;
    expect([await send(viewer), await recover(viewer)]).toEqual([403, 403]);
    // The second request changes nothing.
    expect([await send(owner), await send(owner)]).toEqual([200, 200]);
    await service.database.query(
      `INSERT INTO webhook_recovery (endpoint_id, since, requested_at, lease_until)
       VALUES ($1, now(), now(), now() + interval '1 minute')`,
      [endpoint],
    );
    expect(await recover(owner)).toBe(202);
    await service.database.query('UPDATE webhook_recovery SET finished_at = now()');
    expect(await recover(owner)).toBe(202);
    const entries = (await auditEntries(service)).slice(0, 4);
    const [recovered, resent] = entries;
    expect(entries.map(({ event }) => `${event.action} ${event.outcome.status}`)).toEqual([
      'webhook.resend success',
      'webhook.resend success',
      'webhook.resend denied',
      'webhook.resend denied',
    ]);
    expect(resent?.target).toMatchObject({ name: `${receiver.url}/hook` });
    expect(resent?.changes).toEqual([
      { field: 'deliveries', from: null, to: '1' },
      { field: 'event_id', from: null, to: event_id },
    ]);
    expect(recovered?.changes).toEqual([{ field: 'since', from: null, to: since }]);
    const reader = await visitorWithRole(service, 'owner');
    expect(textOf(await reader.get('/dashboard/audit-log'))).toMatch(
      /sent deliveries again\s+in development\s+http:.*hook/,
    );
  });
});

describe('Sending failed deliveries again', () => {
  it('sends the selected ones, reports the progress, and is recorded once', async () => {
    const hook = await createEndpoint();
    await createEndpoint({ url: `${receiver.url}/other` });
    const [first = '', second = '', third = ''] = await failed('CARD_UPDATED', 'CARD_UPDATED', 'CARD_FAILED');
    const log = await visitor.get(`${LOG}?type=webhook&outcome=failure`);
    expect(log.text).toContain(`name="selected" value="${first}.${hook.slice(0, 8)}"`);
    const events = await visitor.get(`${DASHBOARD}/events`);
    expect(events.text).toContain(`name="selected" value="${second}.${hook.slice(0, 8)}"`);
    // One delivery of the first event, and both of the second.
    const path = await start(selection(`${first}.${hook}`, `${first}.${hook.slice(0, 8)}`, second));
    expect(await finished(path)).toContain('3 of 3 deliveries queued or skipped.');
    await queueIsEmpty(service);
    expect(textOf(await visitor.get(path))).toMatch(/ Finished .* Delivered 3 Failed 0 Waiting 0 Skipped 0 /);
    expect(arrivedIds()).toEqual([first, second, second].toSorted());
    expect(receiver.arrivals.filter(({ path }) => path === '/other')).toHaveLength(1);
    expect(await auditOf(service, user)).toEqual(['auth.login success', 'webhook.resend success']);
    const [{ changes } = { changes: null }] = await service.database.query<{ changes: unknown }>(
      "SELECT changes FROM audit_log WHERE action = 'webhook.resend' ORDER BY sequence DESC LIMIT 1",
    );
    expect(changes).toEqual([
      { field: 'deliveries', from: null, to: '3' },
      { field: 'endpoints', from: null, to: `${receiver.url}/hook, ${receiver.url}/other` },
    ]);
    // The third event was not selected.
    expect(textOf(await planOf(''))).toContain('Send 3 deliveries again?');
    expect(textOf(await planOf(selection(third, second)))).toMatch(
      /Send 2 deliveries again\?.* Left out: 2 deliveries: received by the endpoint/,
    );
  });

  it('sends all of a filter, and says which user’s, without a name, in the audit log', async () => {
    await createEndpoint();
    const ids = await failed('CARD_UPDATED', 'CARD_FAILED', 'CARD_UPDATED');
    const list = await visitor.get(`${LOG}?event=CARD_UPDATED&external_user_id=user-8f3a`);
    const [, link = ''] = /href="([^"]+)">Send (?:all )?failed again/.exec(list.text) ?? [];
    const text = await finished(await start(link.replaceAll('&amp;', '&').split('?')[1] ?? ''));
    expect(text).toContain('2 of 2 deliveries queued or skipped.');
    await queueIsEmpty(service);
    expect(arrivedIds()).toEqual([ids[0], ids[2]].toSorted());
    const [{ changes } = { changes: null }] = await service.database.query<{ changes: unknown }>(
      "SELECT changes FROM audit_log WHERE action = 'webhook.resend' ORDER BY sequence DESC LIMIT 1",
    );
    expect(changes).toEqual(
      expect.arrayContaining([
        { field: 'deliveries', from: null, to: '2' },
        { field: 'user', from: null, to: 'one user' },
        { field: 'event', from: null, to: 'CARD_UPDATED' },
      ]),
    );
    expect(JSON.stringify(changes)).not.toContain('user-8f3a');
  });

  it('starts once if the form is sent several times', async () => {
    await createEndpoint();
    const ids = await failed(...Array<EventName>(6).fill('CARD_UPDATED'));
    const fields = fieldsOf(await planOf(''));
    const copies = Array.from({ length: 8 }, () => visitor.copy());
    const responses = await Promise.all(copies.map((copy) => copy.submit(PLAN, fields)));
    const path = responses[0]?.location ?? '';
    expect(responses.map(({ status, location }) => [status, location])).toEqual(Array(8).fill([303, path]));
    await finished(path);
    expect((await visitor.submit(PLAN, fields)).location).toBe(path);
    await queueIsEmpty(service);
    expect(arrivedIds()).toEqual(ids.toSorted());
    expect(await auditOf(service, user)).toEqual(['auth.login success', 'webhook.resend success']);
  });

  it('refuses a recovery meanwhile, which would send only what was selected', async () => {
    const endpoint = await createEndpoint();
    const [one] = await failed('CARD_UPDATED', 'CARD_UPDATED');
    await addRecovery(endpoint, [one], 0, "now() + interval '1 minute'");
    const path = `/webhook-endpoints/${endpoint}/recover`;
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const refused = await service.request<{ error_message: string }>(path, { body: { since }, login: owner });
    expect([refused.status, refused.body.error_message]).toEqual([
      400,
      'Selected deliveries to this endpoint are being sent again. Try again when that has finished.',
    ]);
    // And it is not shown as the last recovery.
    expect((await service.request(path, { login: owner })).body).toMatchObject({ status: 'none' });
    await service.database.query('UPDATE webhook_recovery SET finished_at = now()');
    expect((await service.request(path, { body: { since }, login: owner })).body).toMatchObject({
      status: 'running',
      since,
    });
  });

  it('sends at once what waits for a retry', async () => {
    const id = await createEndpoint();
    const [eventId = ''] = await failed('CARD_UPDATED');
    const patch = (status: string) =>
      service.request(`/webhook-endpoints/${id}`, { method: 'PATCH', body: { status }, login: owner });
    await patch('paused');
    await service.request(`/webhook-endpoints/${id}/redeliver`, {
      body: { event_id: eventId },
      login: owner,
    });
    await service.database.query(`UPDATE webhook_delivery SET due_at = now() + interval '10 minutes'`);
    await patch('enabled');
    const path = await start('');
    expect(await finished(path)).toContain('1 of 1 delivery queued or skipped.');
    await queueIsEmpty(service);
    expect(arrivedIds()).toEqual([eventId]);
    expect(await resends()).toEqual([{ selected: 1, handled: 1, queued: 1, received: 0 }]);
  });

  it('counts what was delivered, failed and waits, until nothing waits', async () => {
    const id = await createEndpoint();
    await createEndpoint({ url: `${receiver.url}/other`, events: ['CARD_FAILED'] });
    await failed('CARD_UPDATED', 'CARD_FAILED');
    const patch = (status: string) =>
      service.request(`/webhook-endpoints/${id}`, { method: 'PATCH', body: { status }, login: owner });
    await patch('paused');
    receiver.response = 500;
    const path = await start('');
    await finished(path);
    const sending = await eventually('the attempts at the other endpoint failed', async () => {
      const page = await visitor.get(path);
      return / Sending .* Delivered 0 Failed 1 Waiting 2 Skipped 0 /.test(textOf(page)) && page;
    });
    expect(sending.text).toContain('hx-trigger="every');
    receiver.response = 200;
    await patch('enabled');
    await queueIsEmpty(service);
    const done = await visitor.get(path);
    expect(textOf(done)).toMatch(/ Finished .* Delivered 2 Failed 1 Waiting 0 Skipped 0 /);
    expect(textOf(done)).toMatch(/hook 2 2 0 0 None .*other 1 0 1 0 None/);
    expect(done.text).not.toContain('hx-trigger="every');
    // Version 0.3.0 does not keep the events.
    await service.database.query('UPDATE webhook_recovery SET event_ids = NULL');
    expect(textOf(await visitor.get(path))).toMatch(/ All queued 3 of 3 deliveries queued or skipped\. /);
  });

  it('counts as waiting what the queue has, and nothing that was dropped or logged by a clock that is behind', async () => {
    const id = await createEndpoint();
    const [first] = await failed('CARD_UPDATED', 'CARD_FAILED');
    await service.request(`/webhook-endpoints/${id}`, {
      method: 'PATCH',
      body: { status: 'paused' },
      login: owner,
    });
    const path = await start('');
    await finished(path);
    const { database } = service;
    // One delivery was being sent already, and the other one is received.
    await database.query('UPDATE webhook_recovery SET queued = 1, sending = 1');
    await database.query(
      `UPDATE request_log SET created_at = created_at - interval '90 seconds' WHERE type = 'webhook'`,
    );
    await database.query('DELETE FROM webhook_delivery WHERE event_id = $1', [first]);
    await database.query(
      `UPDATE request_log SET status_code = 200, reason = NULL,
              created_at = (SELECT requested_at - interval '30 seconds' FROM webhook_recovery)
        WHERE webhook_event_id = $1 AND attempt = 3`,
      [first],
    );
    const shown = async () => textOf(await visitor.get(path));
    expect(await shown()).toMatch(/ Sending .* Delivered 1 Failed 0 Waiting 1 Skipped 0 /);
    await database.query('DELETE FROM webhook_delivery');
    expect(await shown()).toMatch(/ Finished .* Delivered 1 Failed 0 Waiting 0 Skipped 1 /);
    await database.query("UPDATE webhook_recovery SET requested_at = requested_at - interval '31 days'");
    expect(await shown()).toMatch(/ All queued 2 of 2 deliveries queued or skipped\. /);
  });

  it('skips what was received after it was requested', async () => {
    const id = await createEndpoint();
    const [received, other] = await failed('CARD_UPDATED', 'CARD_UPDATED');
    await service.request(`/webhook-endpoints/${id}/redeliver`, {
      body: { event_id: received },
      login: owner,
    });
    await receiver.arrived(1);
    await queueIsEmpty(service);
    await addRecovery(id, [received, other]);
    await eventually('the recovery is finished', async () => (await resends())[0]?.handled === 2);
    await queueIsEmpty(service);
    expect(arrivedIds()).toEqual([received, other].toSorted());
    expect(await resends()).toEqual([{ selected: 2, handled: 2, queued: 1, received: 1 }]);
  });

  it('continues where a process that has ended left off, and repeats nothing', async () => {
    const id = await createEndpoint();
    const ids = await failed('CARD_UPDATED', 'CARD_UPDATED', 'CARD_UPDATED');
    // The first event was handled: whatever happened to it since, it is not sent again.
    await addRecovery(id, ids, 1);
    await eventually('the recovery is finished', async () => (await resends())[0]?.handled === 3);
    await queueIsEmpty(service);
    expect(arrivedIds()).toEqual(ids.slice(1).toSorted());
  });

  it('queues nothing twice if it is interrupted between queueing and counting', async () => {
    await createEndpoint();
    const ids = await failed('CARD_UPDATED', 'CARD_UPDATED');
    // A sequence also counts in a transaction that is rolled back.
    await service.database.query('CREATE SEQUENCE interruption');
    await service.database.query(
      `CREATE FUNCTION interrupt_recovery() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
         AS $$ BEGIN PERFORM nextval('interruption'); RAISE EXCEPTION 'The process ends here'; END $$`,
    );
    await service.database.query(
      `CREATE TRIGGER interrupt_recovery BEFORE UPDATE ON webhook_recovery FOR EACH ROW
         WHEN (OLD.handled <> NEW.handled) EXECUTE FUNCTION interrupt_recovery()`,
    );
    let path: string;
    try {
      path = await start('');
      await eventually('the recovery was interrupted', async () => {
        const [row] = await service.database.query<{ is_called: boolean }>(
          'SELECT is_called FROM interruption',
        );
        return row?.is_called;
      });
      await queueIsEmpty(service);
      expect(arrivedIds()).toEqual([]);
      expect(textOf(await visitor.get(path))).toContain('0 of 2 deliveries queued or skipped.');
    } finally {
      await service.database.query('DROP FUNCTION interrupt_recovery CASCADE');
      await service.database.query('DROP SEQUENCE interruption');
    }
    await service.database.query("UPDATE webhook_recovery SET lease_until = '-infinity'");
    expect(await finished(path)).toContain('2 of 2 deliveries queued or skipped.');
    await queueIsEmpty(service);
    expect(arrivedIds()).toEqual(ids.toSorted());
  });

  it('sends thousands in portions, and starts no second one at the same endpoint meanwhile', async () => {
    const id = await createEndpoint();
    const [eventId] = await failed('CARD_UPDATED');
    await copyFailure(service, eventId, 2_500);
    await service.request(`/webhook-endpoints/${id}`, {
      method: 'PATCH',
      body: { status: 'paused' },
      login: owner,
    });
    const plan = await planOf('');
    expect(textOf(plan)).toMatch(/Send 2,501 deliveries again\?.* waits until you resume it/);
    await addRecovery(id, [eventId], 0, "now() + interval '1 minute'");
    const refused = await visitor.submit(PLAN, fieldsOf(plan));
    expect([refused.status, textOf(refused)]).toEqual([
      400,
      expect.stringContaining('A recovery of one of these endpoints is running.'),
    ]);
    expect(refused.text).toContain('2,501 deliveries');
    await service.database.query('DELETE FROM webhook_recovery');
    const portions = await recordedPortions(async () => {
      expect(await finished(await start(''))).toContain('2,501 of 2,501 deliveries queued or skipped.');
    });
    expect(portions).toEqual([1_000, 1_000, 501]);
    expect(await resends()).toEqual([{ selected: 2_501, handled: 2_501, queued: 2_501, received: 0 }]);
    // Also deletes the deliveries.
    await service.database.query('DELETE FROM webhook_endpoint');
  });

  it('finds and sends nothing of another organization', async () => {
    const stranger = await service.anotherOrganization();
    const strangers = await visitorWithRole(service, 'owner', stranger.id);
    const theirEndpoint = await createEndpoint({ url: `${receiver.url}/theirs` }, strangers.login);
    const ours = await createEndpoint();
    receiver.response = 500;
    const theirs = await publish('CARD_UPDATED', stranger.development.clientId);
    const [own = ''] = await failed('CARD_UPDATED');
    const selected = [
      own,
      theirs,
      `${theirs}.${ours}`,
      `${theirs}.${theirEndpoint}`,
      `${own}.${theirEndpoint}`,
    ];
    expect(textOf(await planOf(selection(...selected)))).toContain('Send 1 delivery again?');
    expect(textOf(await planOf(selection(...selected.slice(1))))).toContain('No failed delivery is selected');
    expect(textOf(await planOf(`endpoint_id=${theirEndpoint}`))).toContain('Nothing to send again');
    expect(textOf(await planOf(`event_id=${theirs}`))).toContain('Nothing to send again');
    const path = await start(selection(...selected));
    await finished(path);
    await queueIsEmpty(service);
    expect(receiver.arrivals.map((arrival) => [arrival.path, arrival.headers['webhook-id']])).toEqual([
      ['/hook', own],
    ]);
    expect((await strangers.get(path)).status).toBe(404);
    expect((await visitor.get(path.replace('development', 'production'))).status).toBe(404);
    expect((await visitor.get(`${DASHBOARD}/events/resends/x`)).status).toBe(404);
    // An ID that another organization used is no obstacle, and changes nothing of theirs.
    const [id = ''] = /[\da-f-]{36}/.exec(path) ?? [];
    const plan = fieldsOf(await planOf('', strangers));
    expect((await strangers.submit(PLAN, { ...plan, resend_id: id })).status).toBe(303);
    expect(textOf(await visitor.get(path))).toContain('1 of 1 delivery queued or skipped.');
    await queueIsEmpty(service);
  });

  it('requires the permission to send a single event again, and the token of the form', async () => {
    await createEndpoint();
    const [id = ''] = await failed('CARD_UPDATED');
    const viewer = await visitorWithRole(service, 'viewer');
    expect((await planOf('', viewer)).status).toBe(403);
    const fields = fieldsOf(await planOf(''));
    await viewer.get(`${DASHBOARD}/events`);
    expect((await viewer.submit(PLAN, fields)).status).toBe(403);
    expect(await auditOf(service, viewer.login)).toEqual(['webhook.resend denied']);
    for (const list of [`${DASHBOARD}/events`, `${LOG}?type=webhook`]) {
      expect((await viewer.get(list)).text).not.toMatch(/name="selected"|Send (?:all )?failed again/);
      const { text } = await visitor.get(list);
      expect(text).toContain(`name="selected" value="${id}`);
      expect(text).toMatch(/Send (?:all )?failed again/);
    }
    expect((await visitor.submit(PLAN, { ...fields, form_token: 'wrong' })).status).toBe(403);
    expect((await visitor.submit(PLAN, { ...fields, resend_id: 'x' })).status).toBe(400);
    expect(await resends()).toEqual([]);
    const member = await visitorWithRole(service, 'member');
    await planOf('', member);
    const path = (await member.submit(PLAN, fields)).location ?? '';
    await finished(path);
    expect((await viewer.get(path)).status).toBe(200);
    await queueIsEmpty(service);
    expect(arrivedIds()).toEqual([id]);
  });
});

/** Adds the recovery of a resend, as a process that has ended leaves it. */
const addRecovery = (
  endpointId: string,
  eventIds: readonly unknown[],
  handled = 0,
  leaseUntil = "now() - interval '1 second'",
): Promise<unknown> =>
  service.database.query(
    `INSERT INTO webhook_recovery (resend_id, endpoint_id, event_ids, selected, handled, since, requested_at, lease_until)
     VALUES (gen_random_uuid(), $1, $2, cardinality($2::uuid[]), $3, now() - interval '1 day', now(), ${leaseUntil})`,
    [endpointId, eventIds, handled],
  );

/** Returns how many deliveries were handled by each transaction. */
async function recordedPortions(action: () => Promise<void>): Promise<number[]> {
  const { database } = service;
  await database.query('CREATE TABLE portion (position serial, deliveries integer)');
  await database.query(
    `CREATE FUNCTION record_portion() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
       AS $$ BEGIN INSERT INTO portion (deliveries) VALUES (NEW.handled - OLD.handled); RETURN NULL; END $$`,
  );
  await database.query(
    `CREATE TRIGGER record_portion AFTER UPDATE ON webhook_recovery FOR EACH ROW
       WHEN (OLD.handled <> NEW.handled) EXECUTE FUNCTION record_portion()`,
  );
  try {
    await action();
    const rows = await database.query<{ deliveries: number }>(
      'SELECT deliveries FROM portion ORDER BY position',
    );
    return rows.map(({ deliveries }) => deliveries);
  } finally {
    await database.query('DROP FUNCTION record_portion CASCADE');
    await database.query('DROP TABLE portion');
  }
}
