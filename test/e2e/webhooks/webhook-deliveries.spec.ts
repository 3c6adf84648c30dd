import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { Transactional, PartitionRotation } from '../../../src/infrastructure/database/index.js';
import type { AnyEvent } from '../../../src/infrastructure/event-catalog/index.js';
import { ApiClientsService, SigningSecrets } from '../../../src/modules/api-clients/index.js';
import type { OwnedWebhookEndpoint } from '../../../src/modules/webhook-endpoints/index.js';
import { WebhookPublisher } from '../../../src/modules/webhooks/index.js';
import { standardSignature } from '../../../src/infrastructure/crypto/index.js';
import { serviceSignature } from '../../../src/modules/webhooks/signing/delivery-headers.js';
import { DeliveryQueueService } from '../../../src/modules/webhooks/queue/delivery-queue.service.js';
import { moveClock } from '../../support/clock.js';
import { useDnsServer } from '../../support/http/dns-server.js';
import { eventually, loadFactor } from '../../support/eventually.js';
import { whileInsertsFail } from '../../support/database/failing-inserts.js';
import { freePort } from '../../support/programs/ports.js';
import { logLines } from '../../support/logs/log-lines.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { watchStatements } from '../../support/database/statements.js';
import { useLogin, useTestApp } from '../../support/test-app.js';
import { addEndpoint, useReceiver } from '../../support/webhooks/webhook-receiver.js';

const SESSION_ID = 'fb5aa994-ed1c-4c3e-b29a-b2a53222e584';
const NETFLIX = { id: 16, name: 'Netflix' };
const EVENT: AnyEvent = {
  event: 'CARD_UPDATED',
  sessionId: SESSION_ID,
  taskId: 25_605,
  externalUserId: 'user-1',
  merchant: NETFLIX,
  data: { card_id: '81n9al10a0ayn13' },
  metadata: { trace_id: 't-1' },
};
const SETTINGS = { WEBHOOK_TARGETS: 'any', WEBHOOK_RETRY_SECONDS: '0,0' };

const dns = useDnsServer();
const service = useTestApp(() => ({ ...SETTINGS, WEBHOOK_DNS_SERVERS: dns.address }), {
  backgroundWork: true,
});
const receiver = useReceiver();
const owner = useLogin(service);

beforeEach(async () => {
  await service.database.query('DELETE FROM webhook_endpoint');
  receiver.arrivals.length = 0;
  receiver.response = 200;
});

interface Endpoint {
  readonly id: string;
  readonly url: string;
}

async function createEndpoint(path = '/hook', environment = 'development'): Promise<Endpoint> {
  const url = `${receiver.url}${path}`;
  const { status, body } = await service.request('/webhook-endpoints/create', {
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

/** Returns how many attempts the lane of an endpoint counts; undefined if there is no lane yet. */
async function attemptsInLane({ id }: Endpoint): Promise<number | undefined> {
  const lanes = await service.database.query<{ in_flight: number }>(
    'SELECT in_flight FROM webhook_lane WHERE endpoint_id = $1',
    [id],
  );
  return lanes[0]?.in_flight;
}

interface Attempt {
  readonly status_code: number;
  readonly reason: string | null;
  readonly attempt: number;
}

/** Delivery attempts of an event in the request log, oldest first. */
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
    const [row] = await service.database.query<{ waiting: number; in_flight: number }>(
      `SELECT (SELECT count(*)::integer FROM webhook_delivery) AS waiting,
              (SELECT coalesce(sum(in_flight), 0)::integer FROM webhook_lane) AS in_flight`,
    );
    return row?.waiting === 0 && row.in_flight === 0;
  });

describe('An attempt', () => {
  const HOST = 'receiver.example.com';
  const publishToHost = async (): Promise<string> => {
    await addEndpoint(service, client().clientId, `http://${HOST}:${new URL(receiver.url).port}/`);
    return publish();
  };

  it('counts if the host name does not exist', async () => {
    dns.set(HOST, { errorCode: 3 });
    const id = await publishToHost();
    await queueIsEmpty();
    expect(await attemptsOf(id)).toHaveLength(3);
  });

  it('does not count if the DNS servers failed', async () => {
    dns.set(HOST, { errorCode: 2 });
    const id = await publishToHost();
    await attempted(id, 4);
    dns.set(HOST, { a: ['127.0.0.1'] });
    await queueIsEmpty();
    expect((await attemptsOf(id)).at(-1)).toMatchObject({ status_code: 200 });
  });

  it('is the only one of a test, even if the DNS servers failed', async () => {
    dns.set(HOST, { errorCode: 2 });
    const id = randomUUID();
    await addEndpoint(service, client().clientId, `http://${HOST}/`, id);
    const { body } = await service.request(`/webhook-endpoints/${id}/test`, { body: {}, login: owner });
    expect(body).toMatchObject({ received: false, reason: 'DNS' });
    await queueIsEmpty();
    expect(await attemptsOf(String(body['event_id']))).toHaveLength(1);
  });

  it('is not made for a test of an endpoint that was deleted meanwhile', async () => {
    const endpoint = { id: randomUUID(), url: receiver.url, client: client() } as OwnedWebhookEndpoint;
    await expect(service.app.get(WebhookPublisher).publishTest(endpoint, 'CARD_UPDATED')).rejects.toThrow(
      'There is no webhook endpoint with this ID.',
    );
  });
});

describe('Publishing an event', () => {
  it('delivers it to every endpoint of its client and environment, with both signatures', async () => {
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
        session_id: SESSION_ID,
        task_id: 25_605,
        external_user_id: 'user-1',
        merchant: NETFLIX,
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

  it('claims its deliveries in the statement that stores them, once the endpoint has succeeded', async () => {
    const endpoint = await createEndpoint();
    await publish();
    await queueIsEmpty();
    // Another transaction that holds the lane must not delay publishing.
    const client = new pg.Client({ connectionString: service.database.url });
    await client.connect();
    try {
      await client.query('BEGIN');
      await client.query('SELECT FROM webhook_lane WHERE endpoint_id = $1 FOR UPDATE', [endpoint.id]);
      const waiting = await publish();
      const [unclaimed] = await service.database.query<{ claimed_by: number | null }>(
        'SELECT claimed_by FROM webhook_delivery WHERE event_id = $1',
        [waiting],
      );
      expect(unclaimed).toEqual({ claimed_by: null });
    } finally {
      await client.end();
    }
    await receiver.arrived(2);
    await queueIsEmpty();
    const held: (() => void)[] = [];
    receiver.response = (response) => void held.push(() => response.writeHead(200).end());
    // A worker may hold the lane for a moment, so that one publication does not claim.
    const claims: unknown[] = [];
    while (claims.length < 3 && !claims.includes(1)) {
      const [delivery] = await service.database.query<{ attempts: number }>(
        'SELECT attempts FROM webhook_delivery WHERE event_id = $1',
        [await publish()],
      );
      claims.push(delivery?.attempts);
    }
    expect(claims).toContain(1);
    await receiver.arrived(2 + claims.length);
    for (const respond of held) respond();
    await queueIsEmpty();
  });

  it('signs no session if the event has none', async () => {
    await createEndpoint();
    await publish({
      event: 'MERCHANT_STATUS_UPDATE',
      merchant: NETFLIX,
      data: { type: 'link', status: 'DOWN' },
    });
    const [arrival] = await receiver.arrived(1);
    expect(arrival?.event).toEqual({
      event: 'MERCHANT_STATUS_UPDATE',
      merchant: NETFLIX,
      data: { type: 'link', status: 'DOWN' },
      timestamp: expect.any(Number) as number,
    });
    const signed = { event: 'MERCHANT_STATUS_UPDATE', contentLength: arrival?.body.length ?? 0 };
    expect(arrival?.headers['service-signature']).toBe(serviceSignature(signed, service.development.secret));
  });

  it('sends nothing if the transaction is rolled back', async () => {
    await createEndpoint();
    const lost: string[] = [];
    class Work {
      @Transactional()
      async fail(): Promise<void> {
        lost.push(await publish());
        throw new Error('rolled back');
      }
    }
    await expect(new Work().fail()).rejects.toThrow('rolled back');
    const id = await publish();
    await receiver.arrived(1);
    await queueIsEmpty();
    expect(receiver.arrivals.map(({ headers }) => headers['webhook-id'])).toEqual([id]);
    expect(await service.database.query('SELECT FROM webhook_event WHERE id = ANY ($1)', [lost])).toEqual([]);
  });

  it('logs each attempt in the request log with a masked URL', async () => {
    await createEndpoint('/hook?shop=7&token=abc');
    const id = await publish();
    await attempted(id, 1);
    const [entry] = await service.database.query(
      `SELECT type, method, path, url, event, status_code, session_id, task_id, external_user_id, latency_ms >= 0 AS took,
              connect_ms IS NOT NULL AS connected, tls_ms, first_byte_ms IS NOT NULL AS responded
         FROM request_log WHERE webhook_event_id = $1`,
      [id],
    );
    expect(entry).toEqual({
      type: 'webhook',
      method: 'POST',
      path: null,
      url: `${receiver.url}/hook?shop=7&token=***`,
      event: 'CARD_UPDATED',
      status_code: 200,
      session_id: SESSION_ID,
      task_id: '25605',
      external_user_id: 'user-1',
      took: true,
      connected: expect.any(Boolean) as boolean,
      tls_ms: null,
      responded: true,
    });
  });

  it('signs with the secret that is active at the time of the attempt, and with both during a rotation', async () => {
    await createEndpoint('/hook', 'production');
    const { clientId, secret: old } = service.production;
    const clients = service.app.get(ApiClientsService);
    /** Returns which secrets signed the next event: the one of Service-Signature, and those of webhook-signature. */
    const signersOfNext = async (...secrets: string[]): Promise<unknown> => {
      receiver.arrivals.length = 0;
      await publish(EVENT, client('production'));
      const [arrival] = await receiver.arrived(1);
      if (!arrival) throw new Error('No webhook arrived');
      const { headers, body } = arrival;
      const signed = { event: 'CARD_UPDATED', sessionId: SESSION_ID, contentLength: body.length };
      const message = {
        id: String(headers['webhook-id']),
        timestampSeconds: Number(headers['webhook-timestamp']),
        body,
      };
      const indexOf = (signature: unknown, sign: (secret: string) => string) =>
        secrets.findIndex((secret) => sign(secret) === signature);
      return [
        indexOf(headers['service-signature'], (secret) => serviceSignature(signed, secret)),
        String(headers['webhook-signature'])
          .split(' ')
          .map((each) => indexOf(each, (secret) => standardSignature(message, secret))),
      ];
    };
    expect(await signersOfNext(old)).toEqual([0, [0]]);
    const { secret } = await clients.rotateSecret(clientId, 1);
    rememberSecret(secret);
    expect(await signersOfNext(old, secret)).toEqual([0, [0, 1]]);
    await clients.activateSecret(clientId);
    expect(await signersOfNext(old, secret)).toEqual([1, [1, 0]]);
    await service.database.query(
      'UPDATE api_secret SET accepted_until = now() WHERE client_id = $1 AND version = 1',
      [clientId],
    );
    expect(await signersOfNext(old, secret)).toEqual([1, [1]]);
    const { secret: third } = await clients.rotateSecret(clientId, 0);
    rememberSecret(third);
    expect(await signersOfNext(secret, third)).toEqual([1, [1]]);
  });

  it('waits while its secret cannot be read, without using up an attempt', async () => {
    const { clientId } = (await service.anotherOrganization()).development;
    await addEndpoint(service, clientId, `${receiver.url}/hook`);
    const read = import.meta.jest.spyOn(service.app.get(SigningSecrets), 'of');
    const fail = () => Promise.reject(new Error('timeout exceeded when trying to connect'));
    read.mockImplementationOnce(fail).mockImplementationOnce(fail);
    const id = await publish(EVENT, { clientId, environment: 'development' });
    expect(await attempted(id, 1)).toEqual([{ status_code: 200, reason: null, attempt: 1 }]);
    expect(read).toHaveBeenCalledTimes(3);
    read.mockRestore();
    await queueIsEmpty();
  });

  it('signs a retry with the secret that was activated after the first attempt', async () => {
    const { clientId, secret: old } = (await service.anotherOrganization()).development;
    await addEndpoint(service, clientId, `${receiver.url}/hook`);
    const clients = service.app.get(ApiClientsService);
    const { secret: rotated } = await clients.rotateSecret(clientId, 1);
    rememberSecret(rotated);
    receiver.response = (response) => {
      receiver.response = 200;
      void clients.activateSecret(clientId).then(() => response.writeHead(503).end());
    };
    await publish(EVENT, { clientId, environment: 'development' });
    const arrivals = await receiver.arrived(2);
    const secrets = [old, rotated];
    const signers = arrivals.map(({ headers, body }) => {
      const signed = { event: 'CARD_UPDATED', sessionId: SESSION_ID, contentLength: body.length };
      return secrets.findIndex((secret) => serviceSignature(signed, secret) === headers['service-signature']);
    });
    expect(signers).toEqual([0, 1]);
    await queueIsEmpty();
  });
});

describe('A failed delivery', () => {
  it.each([201, 204, 301, 410, 500])('is attempted exactly three times after status %i', async (status) => {
    await createEndpoint();
    receiver.response = status;
    const id = await publish();
    const attempts = await attempted(id, 3);
    expect(attempts).toEqual(
      [1, 2, 3].map((attempt) => ({ status_code: status, reason: 'NON_200', attempt })),
    );
    await queueIsEmpty();
    expect(new Set(receiver.arrivals.map(({ body }) => body.toString())).size).toBe(1);
    expect(receiver.arrivals).toHaveLength(3);
  });

  it.each<[string, number, Record<string, string>, string | Buffer, string | null]>([
    ['a text', 503, { 'Content-Type': 'text/plain' }, 'Try äagain\n', 'Try äagain\n'],
    [
      'JSON with secrets',
      401,
      { 'Content-Type': 'application/json' },
      '{"error":"unauthorized","token":"4fJq0vN8","sent":"Bearer abcdefgh12345"}',
      '{"error":"unauthorized","token":"[REDACTED]","sent":"[REDACTED]"}',
    ],
    ['a long text', 500, {}, 'ä'.repeat(50_000), 'ä'.repeat(1_024)],
    ['no body', 500, {}, '', null],
    ['an image', 500, { 'Content-Type': 'image/png' }, 'text', null],
    ['bytes', 500, { 'Content-Type': 'text/plain' }, Buffer.from([0x61, 0xff]), null],
    ['a text with status 200', 200, { 'Content-Type': 'text/plain' }, 'received', null],
  ])('is logged with the text of the response: %s', async (_, status, headers, sent, kept) => {
    const { id } = await createEndpoint();
    receiver.response = (response) => response.writeHead(status, headers).end(sent);
    const { body: tested } = await service.request(`/webhook-endpoints/${id}/test`, {
      body: {},
      login: owner,
    });
    const page = await service.request<{ data: { id: number }[] }>(
      `/request-logs?environment=development&event_id=${String(tested['event_id'])}`,
      { login: owner },
    );
    expect(page.body.data).toHaveLength(1);
    const { body } = await service.request(`/request-logs/${page.body.data[0]?.id}`, { login: owner });
    expect(body).toMatchObject({ status_code: status, endpoint_id: id, response_body: kept });
  });

  it('is logged with status 0 and a reason if the connection is refused', async () => {
    await addEndpoint(service, service.development.clientId, `http://127.0.0.1:${await freePort()}/`);
    const attempts = await attempted(await publish(), 3);
    expect(attempts).toEqual([1, 2, 3].map((attempt) => ({ status_code: 0, reason: 'REFUSED', attempt })));
  });

  it('is retried until the endpoint responds with 200', async () => {
    await createEndpoint();
    receiver.response = (response) => response.writeHead(receiver.arrivals.length < 3 ? 503 : 200).end();
    const attempts = await attempted(await publish(), 3);
    expect(attempts.map(({ status_code }) => status_code)).toEqual([503, 503, 200]);
    await queueIsEmpty();
  });

  it('waits as long as Retry-After asks for', async () => {
    await createEndpoint();
    receiver.response = (response) => response.writeHead(429, { 'Retry-After': '60' }).end();
    const id = await publish();
    await attempted(id, 1);
    const [waiting] = await service.database.query<{ seconds: number }>(
      'SELECT extract(epoch FROM due_at - now())::float AS seconds FROM webhook_delivery WHERE event_id = $1',
      [id],
    );
    expect(waiting?.seconds).toBeGreaterThan(50);
    expect(waiting?.seconds).toBeLessThanOrEqual(60);
  });

  it('is dropped when its endpoint is deleted', async () => {
    const endpoint = await createEndpoint();
    receiver.response = (response) => response.writeHead(503, { 'Retry-After': '1' }).end();
    const id = await publish();
    await attempted(id, 1);
    const deleted = await service.request(`/webhook-endpoints/${endpoint.id}`, {
      method: 'DELETE',
      login: owner,
    });
    expect(deleted.status).toBe(200);
    await pause(2_500);
    expect(await attemptsOf(id)).toHaveLength(1);
    await queueIsEmpty();
  });

  it('is retried at the URL that the endpoint has then', async () => {
    const endpoint = await createEndpoint('/old');
    receiver.response = (response, { path }) =>
      response.writeHead(path === '/old' ? 503 : 200, { 'Retry-After': '1' }).end();
    const first = await publish();
    await attempted(first, 1);
    const body = { url: `${receiver.url}/new` };
    const options = { method: 'PATCH', body, login: owner };
    expect((await service.request(`/webhook-endpoints/${endpoint.id}`, options)).status).toBe(200);
    const second = await publish();
    await attempted(first, 2);
    await attempted(second, 1);
    const seen = receiver.arrivals.map(({ path, headers }) => `${path} ${String(headers['webhook-id'])}`);
    expect(seen.toSorted()).toEqual([`/new ${first}`, `/new ${second}`, `/old ${first}`].toSorted());
  });

  it('is logged even if the endpoint is deleted during the attempt', async () => {
    const endpoint = await createEndpoint();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    receiver.response = (response) => void held.then(() => response.writeHead(200).end());
    const id = await publish();
    await receiver.arrived(1);
    await service.request(`/webhook-endpoints/${endpoint.id}`, { method: 'DELETE', login: owner });
    release();
    expect(await attempted(id, 1)).toEqual([{ status_code: 200, reason: null, attempt: 1 }]);
  });
});

describe('Lanes', () => {
  it('send at most four deliveries to a new endpoint at a time, and a slow endpoint delays no other', async () => {
    await createEndpoint('/slow');
    await createEndpoint('/quick');
    const waiting: (() => void)[] = [];
    receiver.response = (response, { path }) => {
      if (path === '/quick') response.writeHead(200).end();
      else waiting.push(() => response.writeHead(200).end());
    };
    await Promise.all(Array.from({ length: 12 }, () => publish()));
    await receiver.arrived(12, '/quick');
    await receiver.arrived(4, '/slow');
    await pause(300);
    expect(waiting).toHaveLength(4);
    for (let done = 0; done < 12; done += 1) {
      await eventually('one more delivery is sent', () => waiting.length > done);
      waiting[done]?.();
    }
    await queueIsEmpty();
  });

  it('narrow to one attempt while an endpoint keeps failing, and widen with the first success', async () => {
    const endpoint = await createEndpoint();
    receiver.response = 500;
    await Promise.all(Array.from({ length: 2 }, () => publish()));
    const lane = async () =>
      (
        await service.database.query<{ width: number; consecutive_failures: number }>(
          'SELECT adaptive_width AS width, consecutive_failures FROM webhook_lane WHERE endpoint_id = $1',
          [endpoint.id],
        )
      )[0];
    const health = async () =>
      (await service.request(`/webhook-endpoints/${endpoint.id}`, { login: owner })).body['health'];
    await queueIsEmpty();
    expect(await lane()).toEqual({ width: 1, consecutive_failures: 6 });
    expect(await health()).toMatchObject({
      last_success_at: null,
      consecutive_failures: 6,
      throttled: true,
    });
    receiver.response = 200;
    await publish();
    await queueIsEmpty();
    const { width, consecutive_failures } = (await lane()) ?? {};
    expect(width).toBeGreaterThan(1);
    expect(consecutive_failures).toBe(0);
    expect(await health()).toMatchObject({
      last_success_at: expect.stringMatching(/Z$/) as string,
      consecutive_failures: 0,
      throttled: false,
    });
  });

  it('are not throttled while first attempts fail and their retries succeed', async () => {
    const { id } = await createEndpoint();
    await publish();
    await queueIsEmpty();
    // A longer grace than that of retries without delay.
    await service.database.query(`UPDATE webhook_lane SET last_success_at = now() + interval '1 minute'`);
    const failed = new Set<unknown>();
    const retries: (() => void)[] = [];
    receiver.response = (response, { headers }) => {
      const isRetry = failed.has(headers['webhook-id']);
      failed.add(headers['webhook-id']);
      if (isRetry) retries.push(() => response.writeHead(200).end());
      else response.writeHead(503).end();
    };
    await Promise.all(Array.from({ length: 12 }, () => publish()));
    // Look at the lane before the first retry succeeds, because a success ends the throttling.
    await eventually('a retry is sent', () => retries.length > 0);
    const [lane] = await service.database.query(
      `SELECT consecutive_failures >= 5 AS "isDown", not_before::text FROM webhook_lane WHERE endpoint_id = $1`,
      [id],
    );
    expect(lane).toEqual({ isDown: true, not_before: '-infinity' });
    receiver.response = 200;
    for (const respond of retries) respond();
    await queueIsEmpty();
    expect(receiver.arrivals).toHaveLength(25);
  });

  it('are resumed if their publisher ended before it could wake them', async () => {
    await createEndpoint();
    const id = await publish();
    await queueIsEmpty();
    await service.database.query(
      `INSERT INTO webhook_delivery (endpoint_id, event_id, event_created_at, url, attempts_allowed, due_at)
       SELECT endpoint.id, event.id, event.created_at, endpoint.url, 3, now()
         FROM webhook_endpoint endpoint, webhook_event event WHERE event.id = $1`,
      [id],
    );
    await receiver.arrived(2);
    await queueIsEmpty();
  });

  /** Lets leases expire for a worker that does not make the attempts: it leaves its own alone. */
  const expireLeases = () =>
    service.database.query(
      `UPDATE webhook_delivery SET lease_until = now() - interval '1 second', claim_id = gen_random_uuid(), claimed_by = NULL`,
    );

  /** Adds an attempt of a worker that has ended. */
  const addClaim = (eventId: string, { id, url }: Endpoint, startedAt: string) =>
    service.database.query(
      `WITH lane AS (UPDATE webhook_lane SET in_flight = in_flight + 1 WHERE endpoint_id = $2)
       INSERT INTO webhook_delivery (endpoint_id, event_id, event_created_at, url, attempts, attempts_allowed, due_at,
                                     claim_id, claimed_by, attempt_started_at, lease_until)
       SELECT $2, id, created_at, $3, 1, 3, now(), gen_random_uuid(), 1, ${startedAt}, ${startedAt} + interval '1 hour'
         FROM webhook_event WHERE id = $1`,
      [eventId, id, url],
    );

  it('count an attempt whose lease expired, and drop its late result', async () => {
    await createEndpoint();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    receiver.response = (response) => {
      if (receiver.arrivals.length > 1) response.writeHead(200).end();
      else void held.then(() => response.writeHead(200).end());
    };
    const id = await publish();
    await receiver.arrived(1);
    await expireLeases();
    const attempts = await attempted(id, 2);
    release();
    await queueIsEmpty();
    await pause(300);
    expect(attempts).toEqual([
      { status_code: 0, reason: 'INTERRUPTED', attempt: 1 },
      { status_code: 200, reason: null, attempt: 2 },
    ]);
    expect(await attemptsOf(id)).toHaveLength(2);
  });

  it('settle an attempt and log it with one statement, or do neither', async () => {
    await createEndpoint();
    await publish();
    await queueIsEmpty();
    const statements = watchStatements(service);
    await attempted(await publish(), 1);
    const logged = statements.filter((text) => text.includes('INSERT INTO request_log'));
    expect(logged).toEqual([expect.stringContaining('DELETE FROM webhook_delivery')]);
    const refusals = (): number =>
      logLines().filter(({ message }) => String(message).startsWith('An attempt could not be')).length;
    const before = refusals();
    let id = '';
    await whileInsertsFail(
      service,
      'request_log',
      async () => {
        id = await publish();
        await eventually('the settlement is refused', () => refusals() > before);
      },
      "NEW.type = 'webhook'",
    );
    expect(await attemptsOf(id)).toEqual([]);
    const claimed = await service.database.query(
      'SELECT in_flight FROM webhook_delivery JOIN webhook_lane USING (endpoint_id) WHERE claim_id IS NOT NULL',
    );
    expect(claimed).toEqual([{ in_flight: 1 }]);
    await expireLeases();
    expect(await attempted(id, 2)).toEqual([
      { status_code: 0, reason: 'INTERRUPTED', attempt: 1 },
      { status_code: 200, reason: null, attempt: 2 },
    ]);
    await queueIsEmpty();
  });

  it('send at once what a worker had claimed that has ended, and do not blame the endpoint', async () => {
    const endpoint = await createEndpoint();
    const id = await publish();
    await queueIsEmpty();
    await addClaim(id, endpoint, 'now()');
    await receiver.arrived(2);
    expect((await attempted(id, 3)).slice(1)).toEqual([
      { status_code: 0, reason: 'INTERRUPTED', attempt: 1 },
      { status_code: 200, reason: null, attempt: 2 },
    ]);
    await queueIsEmpty();
    const { body } = await service.request(`/webhook-endpoints/${endpoint.id}`, { login: owner });
    expect(body['health']).toMatchObject({ consecutive_failures: 0, throttled: false });
  });

  it('are resumed if the attempt was interrupted more than 24 days ago, the longest time in a column of milliseconds', async () => {
    const endpoint = await createEndpoint();
    const id = await publish();
    await queueIsEmpty();
    await addClaim(id, endpoint, `now() - interval '26 days'`);
    await receiver.arrived(2);
    await queueIsEmpty();
  });

  it.each(['an attempt that was interrupted', 'a delivery that nobody was notified of'])(
    'that are locked delay the recovery of no other: %s',
    async (stranded) => {
      const locked = await createEndpoint('/locked');
      const { development: other } = await service.anotherOrganization();
      await addEndpoint(service, other.clientId, `${receiver.url}/other`);
      const ids = [await publish(), await publish(EVENT, { ...client(), clientId: other.clientId })] as const;
      await queueIsEmpty();
      const addDelivery = (eventId: string) =>
        service.database.query(
          `INSERT INTO webhook_delivery (endpoint_id, event_id, event_created_at, url, attempts_allowed, due_at)
           SELECT endpoint.id, event.id, event.created_at, endpoint.url, 3, now() - interval '1 minute'
             FROM webhook_event event JOIN webhook_endpoint endpoint USING (client_id) WHERE event.id = $1`,
          [eventId],
        );
      const connection = new pg.Client({ connectionString: service.database.url });
      await connection.connect();
      await connection.query('BEGIN');
      const isInterrupted = stranded.startsWith('an attempt');
      await connection.query('UPDATE webhook_lane SET in_flight = in_flight + $2 WHERE endpoint_id = $1', [
        locked.id,
        isInterrupted ? 1 : 0,
      ]);
      const statements = watchStatements(service);
      const runs = (): number => statements.filter((text) => text.includes('forgotten AS')).length;
      if (isInterrupted)
        await service.database.query(
          `INSERT INTO webhook_delivery (endpoint_id, event_id, event_created_at, url, attempts, attempts_allowed, due_at,
                                         claim_id, claimed_by, attempt_started_at, lease_until)
           SELECT $2, id, created_at, $3, 1, 3, now(), gen_random_uuid(), 1, now(), now() - interval '1 day'
             FROM webhook_event WHERE id = $1`,
          [ids[0], locked.id, locked.url],
        );
      else await addDelivery(ids[0]);
      await eventually('the recovery has met the lock', () => runs() > 1);
      await addDelivery(ids[1]);
      expect(await attempted(ids[1], 2)).toHaveLength(2);
      const before = runs();
      await eventually('the recovery goes on', () => runs() > before + 1);
      expect(await attemptsOf(ids[0])).toHaveLength(1);
      await connection.query('COMMIT');
      await connection.end();
      await queueIsEmpty();
      // The interrupted attempt is logged once.
      expect(await attemptsOf(ids[0])).toHaveLength(isInterrupted ? 3 : 2);
    },
  );

  it('that are locked for long delay the settlements of no other, and are settled once', async () => {
    const { id: locked } = await createEndpoint();
    const { development: other } = await service.anotherOrganization();
    await addEndpoint(service, other.clientId, `${receiver.url}/other`);
    const publishToOther = () => publish(EVENT, { clientId: other.clientId, environment: 'development' });
    const respond: (() => void)[] = [];
    receiver.response = (response) => respond.push(() => response.writeHead(200).end());
    const eventIds = [await publish(), await publish(), await publishToOther()] as const;
    await receiver.arrived(3);
    const connection = new pg.Client({ connectionString: service.database.url });
    await connection.connect();
    await connection.query('BEGIN');
    await connection.query('SELECT FROM webhook_lane WHERE endpoint_id = $1 FOR UPDATE', [locked]);
    for (const each of respond) each();
    expect(await attempted(eventIds[2], 1)).toHaveLength(1);
    receiver.response = 200;
    for (let count = 0; count < 5; count += 1)
      expect(await attempted(await publishToOther(), 1)).toHaveLength(1);
    const late = [eventIds[0], eventIds[1]];
    for (const id of late) expect(await attemptsOf(id)).toEqual([]);
    await connection.query('COMMIT');
    await connection.end();
    await queueIsEmpty();
    for (const id of late) expect(await attemptsOf(id)).toHaveLength(1);
    expect(await attempted(await publish(), 1)).toHaveLength(1);
    await queueIsEmpty();
  });

  it('that were locked for a moment are not kept waiting by one that stays locked', async () => {
    const { id: locked } = await createEndpoint();
    const { development: other } = await service.anotherOrganization();
    const brieflyLocked = randomUUID();
    await addEndpoint(service, other.clientId, `${receiver.url}/other`, brieflyLocked);
    const respond: (() => void)[] = [];
    receiver.response = (response) => respond.push(() => response.writeHead(200).end());
    const eventIds = [
      await publish(),
      await publish(EVENT, { clientId: other.clientId, environment: 'development' }),
    ] as const;
    await receiver.arrived(2);
    const lock = async (endpointId: string): Promise<pg.Client> => {
      const connection = new pg.Client({ connectionString: service.database.url });
      await connection.connect();
      await connection.query('BEGIN');
      await connection.query('SELECT FROM webhook_lane WHERE endpoint_id = $1 FOR UPDATE', [endpointId]);
      return connection;
    };
    const [long, brief] = [await lock(locked), await lock(brieflyLocked)];
    const statements = watchStatements(service);
    for (const each of respond) each();
    await eventually('a settlement is late', () =>
      statements.some((text) => text.includes('endpoint_id AS id FROM webhook_lane')),
    );
    // The other one is in the same batch, or in one that begins at about the same time.
    await pause(500);
    await brief.end();
    const unlockedAt = performance.now();
    expect(await attempted(eventIds[1], 1)).toEqual([{ status_code: 200, reason: null, attempt: 1 }]);
    expect(performance.now() - unlockedAt).toBeLessThan(2_000 * loadFactor());
    expect(await attemptsOf(eventIds[0])).toEqual([]);
    await long.end();
    await queueIsEmpty();
    for (const id of eventIds) expect(await attemptsOf(id)).toHaveLength(1);
  });

  it('hold no lane while the log is locked, and are settled when it is free', async () => {
    const { id: endpoint } = await createEndpoint();
    const id = await publish();
    await queueIsEmpty();
    const statements = watchStatements(service);
    const [log, others] = [1, 2].map(() => new pg.Client({ connectionString: service.database.url })) as [
      pg.Client,
      pg.Client,
    ];
    await Promise.all([log.connect(), others.connect()]);
    await log.query('BEGIN');
    // As CREATE INDEX locks a partition. Entries can be read.
    const partitions = await log.query<{ name: string }>(
      "SELECT relid::regclass::text AS name FROM pg_partition_tree('request_log') WHERE isleaf",
    );
    await log.query(`LOCK TABLE ${partitions.rows.map(({ name }) => name).join(', ')} IN SHARE MODE`);
    const late = await publish();
    await receiver.arrived(2);
    await others.query("SET lock_timeout = '10s'");
    const gaveUp = () => statements.some((text) => text.includes('endpoint_id AS id FROM webhook_lane'));
    for (let round = 0; round < 3; round += 1) {
      await eventually('the settlement looks for free lanes', gaveUp);
      statements.length = 0;
      await pause(20);
      await others.query('SELECT FROM webhook_lane WHERE endpoint_id = $1 FOR UPDATE', [endpoint]);
    }
    expect(await attemptsOf(late)).toEqual([]);
    await log.query('COMMIT');
    await Promise.all([log.end(), others.end()]);
    await queueIsEmpty();
    for (const each of [id, late]) expect(await attemptsOf(each)).toHaveLength(1);
  });

  it('leave an attempt alone while its worker is connected', async () => {
    await createEndpoint();
    receiver.response = (response) => void setTimeout(() => response.writeHead(200).end(), 4_000);
    const id = await publish();
    expect(await attempted(id, 1)).toEqual([{ status_code: 200, reason: null, attempt: 1 }]);
    expect(receiver.arrivals).toHaveLength(1);
  });

  it('keep a delivery that was claimed again after its lease expired from being settled by the first claim', async () => {
    await createEndpoint();
    const droppedResults = (): number =>
      logLines().filter(({ message }) => String(message).startsWith('The lease of an attempt expired'))
        .length;
    const before = droppedResults();
    const respond: ((status: number) => void)[] = [];
    receiver.response = (response) => respond.push((status) => response.writeHead(status).end());
    const id = await publish();
    await receiver.arrived(1);
    await expireLeases();
    await receiver.arrived(2);
    // The first attempt ends while the second one holds the claim.
    respond[0]?.(200);
    await eventually('the late result is dropped', () => droppedResults() > before);
    respond[1]?.(503);
    await receiver.arrived(3);
    respond[2]?.(200);
    expect(await attempted(id, 3)).toEqual([
      { status_code: 0, reason: 'INTERRUPTED', attempt: 1 },
      { status_code: 503, reason: 'NON_200', attempt: 2 },
      { status_code: 200, reason: null, attempt: 3 },
    ]);
    await queueIsEmpty();
  });
});

describe('The worker recovers', () => {
  const cut = (where: string) =>
    service.database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${where}`,
    );

  it('when the connection that listens for notifications is lost', async () => {
    await createEndpoint();
    await cut(`application_name LIKE '% notifications'`);
    const id = await publish();
    await attempted(id, 1);
    await eventually('the worker listens again', async () => {
      const rows = await service.database.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '% notifications'`,
      );
      return rows.length === 1;
    });
  });

  it('when all connections are lost under load, without losing an event', async () => {
    await createEndpoint();
    const published: string[] = [];
    for (let round = 0; round < 100; round += 1) {
      await publish().then(
        (id) => published.push(id),
        () => undefined,
      );
      if (round % 30 === 10) await cut('true').catch(() => undefined);
    }
    await eventually('every event that was committed has arrived', () => {
      const arrived = new Set(receiver.arrivals.map(({ headers }) => headers['webhook-id']));
      return published.every((id) => arrived.has(id));
    });
    expect(published.length).toBeGreaterThan(50);
  });
});

describe('While the database is unavailable', () => {
  it('deliveries are paused, which is logged once, and resume afterwards', async () => {
    await createEndpoint();
    const before = logLines().length;
    const logged = () =>
      logLines()
        .slice(before)
        .filter(
          ({ context, message }) =>
            context === 'Webhooks' && /^(?:Deliveries|The delivery queue)/.test(String(message)),
        )
        .map(({ level, message }) => [level, String(message).replace(/: .*/, '')]);
    await service.database.cutOff();
    // Longer than two turns of the worker.
    await pause(2_500);
    expect(logged()).toEqual([['warn', 'Deliveries are paused']]);
    await service.database.reconnect();
    await eventually('deliveries resume', () => logged().length > 1);
    const id = await publish();
    expect(await attempted(id, 1)).toMatchObject([{ status_code: 200 }]);
    expect(logged()).toEqual([
      ['warn', 'Deliveries are paused'],
      ['log', 'Deliveries resumed'],
    ]);
  });

  it('the queue is polled once a second, even after a notification', async () => {
    const { clientId } = service.development;
    await service.database.query(`SELECT pg_notify('webhook_lanes', $1)`, [clientId]);
    const queue = service.app.get(DeliveryQueueService);
    const claim = queue.claim.bind(queue);
    let claims = 0;
    queue.claim = (...parameters) => {
      claims += 1;
      return claim(...parameters);
    };
    try {
      await service.database.cutOff();
      claims = 0;
      await pause(2_000);
      expect(claims).toBeLessThan(20);
    } finally {
      queue.claim = claim;
      await service.database.reconnect();
    }
  });
});

describe('Rotation of events', () => {
  it('keeps events as long as the request log, and drops deliveries with their events', async () => {
    const endpoint = await createEndpoint();
    receiver.response = (response) => response.writeHead(503, { 'Retry-After': '900' }).end();
    const id = await publish();
    await attempted(id, 1);
    const keptEvents = () => service.database.query('SELECT FROM webhook_event WHERE id = $1', [id]);
    const rotateIn = async (days: number): Promise<void> => {
      using _clock = moveClock(service, days * 24 * 60 * 60_000);
      await service.app.get(PartitionRotation).run();
    };
    await rotateIn(30);
    expect(await keptEvents()).toHaveLength(1);
    // Its event was dropped while no process was running, so that no worker could resume it.
    const days = `now() - interval '40 days'`;
    await service.database.query(
      `WITH lane AS (UPDATE webhook_lane SET in_flight = in_flight + 1 WHERE endpoint_id = $2)
       INSERT INTO webhook_delivery (endpoint_id, event_id, event_created_at, url, attempts, attempts_allowed, due_at,
                                     claim_id, claimed_by, attempt_started_at, lease_until)
       VALUES ($2, $1, ${days}, $3, 1, 3, now(), gen_random_uuid(), 1, ${days}, ${days})`,
      [randomUUID(), endpoint.id, endpoint.url],
    );
    await rotateIn(32);
    expect(await keptEvents()).toHaveLength(0);
    await queueIsEmpty();
    const [room] = await service.database.query(
      `SELECT to_regclass('webhook_event_' || to_char(now() + interval '33 days', 'YYYYMMDD')) AS partition`,
    );
    expect(room?.['partition']).not.toBeNull();
  });

  it('creates days, and keeps old ones, while what depends on events cannot be deleted', async () => {
    const dayOf = async (days: string): Promise<unknown> => {
      const [room] = await service.database.query<{ partition: string | null }>(
        `SELECT to_regclass('webhook_event_' || to_char(now() + $1::interval, 'YYYYMMDD'))::text AS partition`,
        [days],
      );
      return room?.partition;
    };
    await service.app.get(PartitionRotation).run();
    expect(await dayOf('41 days')).toBeNull();
    {
      await using _keys = await service.database.hide('webhook_event_key');
      using _clock = moveClock(service, 40 * 24 * 60 * 60_000);
      await service.app.get(PartitionRotation).run();
    }
    expect(await dayOf('41 days')).not.toBeNull();
    expect(await dayOf('0 days')).not.toBeNull();
  });

  it('keeps no place in the lane of a delivery that is deleted while it is claimed, and frees those of earlier releases', async () => {
    const endpoint = await createEndpoint();
    await publish();
    await eventually(
      'the lane exists and is idle',
      async () => receiver.arrivals.length > 0 && (await attemptsInLane(endpoint)) === 0,
    );
    const deletion = new pg.Client({ connectionString: service.database.url });
    await deletion.connect();
    await service.database.query(
      `WITH delivery AS (
              INSERT INTO webhook_delivery (endpoint_id, event_id, event_created_at, url, attempts_allowed, due_at)
              SELECT $1, gen_random_uuid(), now() - interval '40 days', $2, 3, now() + interval '2 seconds'
              RETURNING endpoint_id, due_at)
       UPDATE webhook_lane SET next_due = due_at FROM delivery WHERE webhook_lane.endpoint_id = delivery.endpoint_id`,
      [endpoint.id, endpoint.url],
    );
    await deletion.query('BEGIN');
    await deletion.query('DELETE FROM webhook_delivery WHERE endpoint_id = $1', [endpoint.id]);
    await eventually('a claim waits for the deletion', async () => {
      const waiting = await service.database.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return waiting.length > 0;
    });
    await deletion.query('COMMIT');
    await deletion.end();
    // The lane is locked until the claim has ended.
    const setPlaces = 'UPDATE webhook_lane SET in_flight = in_flight + $2 WHERE endpoint_id = $1';
    await service.database.query(setPlaces, [endpoint.id, 0]);
    expect(await attemptsInLane(endpoint)).toBe(0);
    await service.database.query(setPlaces, [endpoint.id, 100]);
    await service.app.get(PartitionRotation).run();
    await service.app.get(PartitionRotation).run();
    expect(await attemptsInLane(endpoint)).toBe(0);
    receiver.arrivals.length = 0;
    await publish();
    await eventually('a new event arrives', () => receiver.arrivals.length > 0 || undefined);
  });

  it('deletes deliveries of old events some at a time, and leaves out one that is being claimed', async () => {
    const endpoint = await createEndpoint();
    const old = `now() - interval '40 days'`;
    await service.database.query(
      `INSERT INTO webhook_delivery (endpoint_id, event_id, event_created_at, url, attempts_allowed, due_at)
       SELECT $1, gen_random_uuid(), ${old}, $2, 3, now() + interval '1 day' FROM generate_series(1, 20001)`,
      [endpoint.id, endpoint.url],
    );
    const worker = new pg.Client({ connectionString: service.database.url });
    await worker.connect();
    await worker.query('BEGIN');
    const { rows } = await worker.query(
      'SELECT id FROM webhook_delivery ORDER BY id DESC LIMIT 1 FOR UPDATE',
    );
    const rotation = service.app.get(PartitionRotation);
    // One that began at the start may be running, and has not seen the rows.
    await rotation.run();
    await rotation.run();
    const left = 'SELECT id FROM webhook_delivery WHERE endpoint_id = $1';
    expect(await service.database.query(left, [endpoint.id])).toEqual(rows);
    await worker.end();
    await rotation.run();
    expect(await service.database.query(left, [endpoint.id])).toEqual([]);
  });
});
