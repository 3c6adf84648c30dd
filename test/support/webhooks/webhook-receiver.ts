import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DeliveryWorker } from '../../../src/modules/webhooks/worker/delivery-worker.js';
import { eventually } from '../eventually.js';
import { error, type TestApp } from '../test-app.js';

/** A webhook that arrived at a receiver. */
export interface Arrival {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly event: Readonly<Record<string, unknown>>;
  /** Time of arrival, from `performance.now()`. */
  readonly at: number;
}

/** A local server that receives webhooks. */
export interface WebhookReceiver {
  readonly url: string;
  readonly arrivals: Arrival[];
  /** The next responses: a status, or a function that writes the response. */
  response: number | ((response: ServerResponse, arrival: Arrival) => void);
  /** Waits until this number of webhooks has arrived at the path, or at any path. */
  arrived(count: number, path?: string): Promise<Arrival[]>;
  close(): Promise<void>;
}

/** Adds an endpoint with any URL to a client. */
export async function addEndpoint(
  { database }: Pick<TestApp, 'database'>,
  clientId: string,
  url: string,
  id: string = randomUUID(),
): Promise<void> {
  await database.query(
    'INSERT INTO webhook_endpoint (id, client_id, url, created_at) VALUES ($1, $2, $3, now())',
    [id, clientId, url],
  );
}

/** Starts a receiver before the tests of a file or a block, and closes it after them. */
export function useReceiver(): WebhookReceiver {
  const receiver = {} as WebhookReceiver;
  beforeAll(async () => void (await startReceiver(receiver)));
  afterAll(() => receiver.close());
  return receiver;
}

/** @param receiver the object that becomes the receiver */
export async function startReceiver(receiver = {} as WebhookReceiver): Promise<WebhookReceiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const arrival: Arrival = {
        path: request.url ?? '',
        method: request.method ?? '',
        headers: request.headers,
        body,
        event: JSON.parse(body.toString()) as Record<string, unknown>,
        at: performance.now(),
      };
      receiver.arrivals.push(arrival);
      if (typeof receiver.response === 'number') response.writeHead(receiver.response).end();
      else receiver.response(response, arrival);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const started: WebhookReceiver = {
    url: `http://127.0.0.1:${port}`,
    arrivals: [],
    response: 200,
    async arrived(count, path) {
      const matching = () =>
        receiver.arrivals.filter((arrival) => path === undefined || arrival.path === path);
      await eventually(
        `${count} webhooks arrive at ${path ?? 'the receiver'}`,
        () => matching().length >= count,
      );
      return matching();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return Object.assign(receiver, started);
}

/** Copies an event whose first attempt failed. Each copy is this number of seconds older than the one before. */
export const copyFailure = (
  { database }: TestApp,
  eventId: string | undefined,
  copies: number,
  secondsApart = 0,
): Promise<unknown> =>
  database.query(
    `WITH copy AS (
       INSERT INTO webhook_event (id, created_at, client_id, environment, event, body)
       SELECT gen_random_uuid(), created_at, client_id, environment, event, body
         FROM webhook_event, generate_series(1, $2) WHERE id = $1
       RETURNING id)
     INSERT INTO request_log (client_id, environment, created_at, type, method, url, event, status_code,
                              latency_ms, webhook_endpoint_id, webhook_event_id, attempt, reason)
     SELECT client_id, environment, created_at - make_interval(secs => $3) * row_number() OVER (), type, method, url,
            event, status_code, latency_ms, webhook_endpoint_id, copy.id, attempt, reason
       FROM request_log, copy WHERE webhook_event_id = $1 AND attempt = 1`,
    [eventId, copies, secondsApart],
  );

export const ENDPOINT_NOT_FOUND = error(
  'WEBHOOK_ENDPOINT_ERROR',
  'WEBHOOK_ENDPOINT_NOT_FOUND',
  'There is no webhook endpoint with this ID.',
);

/** Makes the service deliver to receivers of the tests, and retry at once. */
export const RETRY_AT_ONCE = {
  WEBHOOK_TARGETS: 'any',
  WEBHOOK_RETRY_SECONDS: '0,0',
  TRUSTED_PROXY_HOPS: '1',
};

/** Waits until the queue is empty. Resets narrowed lanes, and wakes the worker, which would look for retries only once a second. */
export const queueIsEmpty = ({ app, database }: TestApp): Promise<boolean> =>
  eventually('the queue is empty and the lanes are idle', async () => {
    await database.query(
      `UPDATE webhook_lane
          SET adaptive_width = NULL, width_ceiling = NULL, not_before = '-infinity', consecutive_failures = 0, last_success_at = now()`,
    );
    app.get(DeliveryWorker).onLaneDue();
    const [row] = await database.query<{ waiting: number }>(
      `SELECT (SELECT count(*)::integer FROM webhook_delivery) + (SELECT coalesce(sum(in_flight), 0)::integer FROM webhook_lane) AS waiting`,
    );
    return row?.waiting === 0;
  });
