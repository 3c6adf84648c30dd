import { Webhook } from 'standardwebhooks';
import { Transaction, Transactional } from '../../src/infrastructure/database/index.js';
import { WebhookPublisher, type AnyEvent } from '../../src/modules/webhooks/index.js';
import { serviceSignature } from '../../src/modules/webhooks/signing/service-signature.js';
import { eventually } from '../support/eventually.js';
import { startTestApp, type Login, type TestApp } from '../support/test-app.js';
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

const EVENT: AnyEvent = {
  event: 'CARD_UPDATED',
  sessionId: 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584',
  taskId: 25_605,
  externalUserId: 'user-1',
  merchant: { id: 16, name: 'Netflix' },
  data: { card_id: '81n9al10a0ayn13' },
  metadata: { trace_id: 't-1' },
};
const FEW = { WEBHOOK_TARGETS: 'any', WEBHOOK_RETRY_SECONDS: '0,0' };

let service: TestApp;
let receiver: WebhookReceiver;
let owner: Login;

beforeAll(async () => {
  receiver = await startReceiver();
  service = await startTestApp(FEW, { backgroundWork: true });
  owner = await service.login('owner');
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});
beforeEach(async () => {
  await service.database.query('DELETE FROM webhook_endpoint');
  receiver.arrivals.length = 0;
  receiver.answer = 200;
});

interface Endpoint {
  readonly id: string;
  readonly url: string;
}

async function createEndpoint(path = '/hook', environment = 'development'): Promise<Endpoint> {
  const url = `${receiver.url}${path}`;
  const { status, body } = await service.call('/webhook-endpoints/create', {
    body: { environment, url },
    login: owner,
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return { id: String(body['id']), url };
}

const client = (environment: 'development' | 'production' = 'development') => ({
  clientId: service[environment].clientId,
  environment,
});
const publish = (event: AnyEvent = EVENT, to = client()): Promise<string> =>
  service.app.get(WebhookPublisher).publish(to, event);

interface Attempt {
  readonly status_code: number;
  readonly reason: string | null;
  readonly attempt: number;
}

/** The attempts to deliver an event that the request log has, oldest first. */
const attemptsOf = (eventId: string): Promise<Attempt[]> =>
  service.database.query<Attempt>(
    'SELECT status_code, reason, attempt FROM request_log WHERE webhook_event_id = $1 ORDER BY id',
    [eventId],
  );
const attempted = (eventId: string, count: number): Promise<Attempt[]> =>
  eventually(`${count} attempts are logged`, async () => {
    const attempts = await attemptsOf(eventId);
    return attempts.length >= count ? attempts : undefined;
  });
const queueIsEmpty = () =>
  eventually('the queue is empty and the lanes are idle', async () => {
    const [row] = await service.database.query<{ waiting: number; flying: number }>(
      `SELECT (SELECT count(*)::integer FROM webhook_delivery) AS waiting,
              (SELECT coalesce(sum(in_flight), 0)::integer FROM webhook_lane) AS flying`,
    );
    return row?.waiting === 0 && row.flying === 0;
  });

describe('An event', () => {
  it('arrives at every endpoint of its client and environment, signed twice', async () => {
    await createEndpoint('/one');
    await createEndpoint('/two');
    await createEndpoint('/elsewhere', 'production');
    const before = Date.now();
    const id = await publish();
    const arrivals = await receiver.arrived(2);
    await queueIsEmpty();
    expect(receiver.arrivals.map(({ path }) => path).toSorted()).toEqual(['/one', '/two']);
    for (const { method, headers, body, event } of arrivals) {
      expect(method).toBe('POST');
      expect(event).toEqual({
        event: 'CARD_UPDATED',
        session_id: EVENT.event === 'CARD_UPDATED' ? EVENT.sessionId : '',
        task_id: 25_605,
        external_user_id: 'user-1',
        merchant: { id: 16, name: 'Netflix' },
        data: { card_id: '81n9al10a0ayn13', metadata: { trace_id: 't-1' } },
        timestamp: expect.any(Number) as number,
      });
      expect(event['timestamp']).toBeGreaterThanOrEqual(before);
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'content-length': String(body.length),
        'encryption-type': 'HMAC-SHA256',
        'webhook-id': id,
      });
      const signed = {
        event: 'CARD_UPDATED',
        sessionId: String(event['session_id']),
        contentLength: body.length,
      };
      expect(headers['service-signature']).toBe(serviceSignature(signed, service.development.secret));
      const verifier = new Webhook(service.development.secret, { format: 'raw' });
      expect(verifier.verify(body.toString(), headers as Record<string, string>)).toEqual(event);
    }
    expect(await attempted(id, 2)).toEqual(Array(2).fill({ status_code: 200, reason: null, attempt: 1 }));
  });

  it('is not sent when its transaction is rolled back', async () => {
    await createEndpoint();
    class Work {
      @Transactional()
      async fail(): Promise<void> {
        await publish();
        throw new Error('rolled back');
      }
    }
    await expect(new Work().fail()).rejects.toThrow('rolled back');
    const id = await publish();
    await receiver.arrived(1);
    await queueIsEmpty();
    expect(receiver.arrivals.map(({ headers }) => headers['webhook-id'])).toEqual([id]);
    const [row] = await service.database.query<{ events: number }>(
      "SELECT count(*)::integer AS events FROM webhook_event WHERE id <> $1 AND created_at > now() - interval '1 minute'",
      [id],
    );
    expect(row?.events).toBeGreaterThanOrEqual(0);
    void Transaction;
  });
});

describe('A delivery that fails', () => {
  it.each([201, 204, 301, 410, 500])('is tried three times, and no more: %i', async (status) => {
    await createEndpoint();
    receiver.answer = status;
    const id = await publish();
    const attempts = await attempted(id, 3);
    expect(attempts).toEqual(
      [1, 2, 3].map((attempt) => ({ status_code: status, reason: 'NON_200', attempt })),
    );
    await queueIsEmpty();
    const bodies = receiver.arrivals.map(({ body }) => body.toString());
    expect(new Set(bodies).size).toBe(1);
    expect(receiver.arrivals).toHaveLength(3);
  });
});
