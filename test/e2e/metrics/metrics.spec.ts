import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { OverdueWork } from '../../../src/infrastructure/database/index.js';
import { AttemptLimitsRepository } from '../../../src/infrastructure/rate-limiting/index.js';
import { MINUTE } from '../../../src/infrastructure/time/index.js';
import type { AnyEvent } from '../../../src/infrastructure/event-catalog/index.js';
import { WebhookPublisher } from '../../../src/modules/webhooks/index.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/programs/ports.js';
import { whileLogIsLocked } from '../../support/database/locked-log.js';
import { serveMetrics, type Scraper } from '../../support/logs/metrics.js';
import { startTestApp, useTestApp } from '../../support/test-app.js';
import { useReceiver } from '../../support/webhooks/webhook-receiver.js';

const EVENT: AnyEvent = {
  event: 'CARD_UPDATED',
  sessionId: randomUUID(),
  taskId: 25_605,
  externalUserId: 'user-of-the-metrics',
  merchant: { id: 16, name: 'Netflix' },
  data: { card_id: 'card-81' },
};

const service = useTestApp(
  {
    METRICS_PORT: '0',
    MCP_TOKEN_REQUESTS_PER_MINUTE: '3',
    WEBHOOK_TARGETS: 'any',
    WEBHOOK_RETRY_SECONDS: '0,3600',
    REQUEST_LOG_BUFFER: '12345',
  },
  { backgroundWork: true },
);
let metrics: Scraper;
const receiver = useReceiver();
beforeAll(async () => {
  metrics = await serveMetrics(service);
});

/** Returns by how much the value of a series grows during the work. */
async function growth(
  name: string,
  labels: Readonly<Record<string, string>>,
  work: () => Promise<unknown>,
): Promise<number> {
  const before = (await metrics.value(name, labels)) ?? 0;
  await work();
  return ((await metrics.value(name, labels)) ?? 0) - before;
}

it('Overdue works are read at the same time, so that a database that hangs lets nobody wait for each', async () => {
  const overdue = service.app.get(OverdueWork);
  let started = 0;
  const afterTheOther = async (): Promise<null> => {
    started += 1;
    await eventually('the other one is read, too', () => started === 2);
    return null;
  };
  for (const work of ['first_of_two', 'second_of_two']) overdue.add(work, afterTheOther);
  const works = await overdue.read();
  expect([works.get('first_of_two'), works.get('second_of_two')]).toEqual([0, 0]);
});

const becomes = (value: number, name: string, labels: Readonly<Record<string, string>> = {}) =>
  eventually(`${name} ${JSON.stringify(labels)} is ${value}`, async () => {
    return (await metrics.value(name, labels)) === value;
  });

describe('Request metrics', () => {
  it('count and time requests by route pattern', async () => {
    const labels = { method: 'POST', route: '/mcp/tokens/create' };
    const send = () =>
      service.request('/mcp/tokens/create', { body: { external_user_id: 'user-1' }, as: service.production });
    expect(await growth('mcs_http_requests_total', { ...labels, status: '200' }, send)).toBe(1);
    expect(await growth('mcs_http_request_duration_seconds_count', labels, send)).toBe(1);
    const start = performance.now();
    const duration = await growth('mcs_http_request_duration_seconds_sum', labels, send);
    expect(duration).toBeGreaterThan(0.0005);
    expect(duration).toBeLessThan((performance.now() - start) / 1_000);

    const owner = await service.login('owner');
    const id = randomUUID();
    await service.request(`/webhook-endpoints/${id}`, { login: owner });
    expect(
      await metrics.value('mcs_http_requests_total', { route: '/webhook-endpoints/:id', status: '404' }),
    ).toBe(1);
    expect(await metrics.text()).not.toContain(id);
  });

  it('use one label for unknown paths and methods', async () => {
    const unmatched = { route: 'unmatched', status: '404' };
    const paths = ['/nowhere-1', '/nowhere-2', `/${randomUUID()}`, '/nothing/nobody?token=in-the-query'];
    const grown = await growth('mcs_http_requests_total', unmatched, async () => {
      for (const path of paths) await fetch(service.baseUrl + path);
      await fetch(`${service.baseUrl}/nowhere-3`, { method: 'PROPFIND' });
    });
    expect(grown).toBe(5);
    const routes = (await metrics.samples())
      .filter(({ name }) => name === 'mcs_http_requests_total')
      .map(({ labels }) => labels);
    expect(routes).toContainEqual({ method: '_OTHER', route: 'unmatched', status: '404' });
    expect(JSON.stringify(routes)).not.toMatch(/nowhere|nobody|in-the-query|PROPFIND/);
  });

  it('show the requests in flight', async () => {
    expect(await metrics.value('mcs_http_requests_in_flight')).toBe(0);
    const { hostname, port } = new URL(service.baseUrl);
    const socket = connect(Number(port), hostname);
    // The body, which is read after the guards, never ends.
    socket.write(
      'POST /apply HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    );
    await becomes(1, 'mcs_http_requests_in_flight');
    socket.destroy();
    await becomes(0, 'mcs_http_requests_in_flight');
  });
});

describe('Limit metrics', () => {
  it('count rejected requests', async () => {
    const send = () =>
      service.request('/mcp/tokens/create', {
        body: { external_user_id: 'user-1' },
        as: service.development,
      });
    for (let count = 1; count <= 3; count += 1) expect((await send()).status).toBe(200);
    const grown = await growth('mcs_rate_limit_refusals_total', { limit: 'mcp-tokens' }, async () => {
      expect((await send()).status).toBe(429);
      expect((await send()).status).toBe(429);
    });
    expect(grown).toBe(2);
    expect(await metrics.value('mcs_rate_limit_refusals_total', { limit: 'careers' })).toBe(0);
  });

  it('count rejected attempts', async () => {
    const limit = service.app.get(AttemptLimitsRepository).limit('trial', { attempts: 1, within: MINUTE });
    await limit.count('somebody');
    await limit.count('somebody');
    expect(await metrics.value('mcs_rate_limit_refusals_total', { limit: 'trial' })).toBe(1);
  });
});

describe('Webhook metrics', () => {
  beforeEach(async () => {
    await service.database.query('DELETE FROM webhook_endpoint');
    receiver.response = 200;
    receiver.arrivals.length = 0;
  });

  async function endpoint(url: string): Promise<void> {
    const { status } = await service.request('/webhook-endpoints/create', {
      body: { environment: 'development', url },
      login: await service.login('owner'),
    });
    expect(status).toBe(200);
  }
  const publish = () =>
    service.app
      .get(WebhookPublisher)
      .publish({ clientId: service.development.clientId, environment: 'development' }, EVENT);

  it('count attempts by reason and deliveries by outcome', async () => {
    await endpoint(receiver.url);
    await publish();
    await becomes(1, 'mcs_webhook_attempts_total', { reason: 'none' });
    expect(await metrics.value('mcs_webhook_deliveries_ended_total', { outcome: 'delivered' })).toBe(1);
    expect(await metrics.value('mcs_webhook_attempt_duration_seconds_count', { outcome: 'success' })).toBe(1);

    await service.database.query('DELETE FROM webhook_endpoint');
    await endpoint(`http://127.0.0.1:${await freePort()}/`);
    await publish();
    // The second retry is an hour away.
    await becomes(2, 'mcs_webhook_attempts_total', { reason: 'REFUSED' });
    expect(await metrics.value('mcs_webhook_deliveries_ended_total', { outcome: 'given_up' })).toBe(0);
    await becomes(1, 'mcs_webhook_deliveries', { state: 'retrying' });
    // The attempt is counted before it is settled, which sets the time of the next one.
    await eventually('the second attempt is settled', async () => {
      const due = await service.database.query(
        'UPDATE webhook_delivery SET due_at = now() WHERE attempts = 2 AND claim_id IS NULL RETURNING id',
      );
      return due.length > 0;
    });
    await becomes(1, 'mcs_webhook_deliveries_ended_total', { outcome: 'given_up' });
    expect(await metrics.value('mcs_webhook_attempts_total', { reason: 'REFUSED' })).toBe(3);
  });

  it('show the waiting deliveries and the age of the oldest', async () => {
    await endpoint(receiver.url);
    let finish: () => void = () => undefined;
    receiver.response = (response) => {
      finish = () => response.writeHead(200).end();
    };
    await publish();
    await receiver.arrived(1);
    await becomes(1, 'mcs_webhook_attempts_in_flight');
    // No worker may claim the deliveries before they are counted.
    await service.database.query(`UPDATE webhook_lane SET not_before = now() + interval '55 seconds'`);
    await service.database.query(
      `INSERT INTO webhook_delivery (endpoint_id, event_id, event_created_at, url, attempts, attempts_allowed, due_at)
       SELECT endpoint_id, event_id, event_created_at, url, added.attempts, 3, now() + added.due
         FROM webhook_delivery, (VALUES (0, interval '-90 s'), (1, '-40 s'), (1, '10 minutes')) AS added (attempts, due)`,
    );
    await becomes(2, 'mcs_webhook_deliveries', { state: 'retrying' });
    expect(await metrics.value('mcs_webhook_deliveries', { state: 'waiting' })).toBe(1);
    expect(await metrics.value('mcs_webhook_deliveries', { state: 'in_flight' })).toBe(1);
    expect(await metrics.value('mcs_webhook_lanes_active')).toBe(1);
    const ages = await Promise.all(
      ['waiting', 'retrying', 'in_flight'].map((state) =>
        metrics.value('mcs_webhook_oldest_delivery_age_seconds', { state }),
      ),
    );
    expect(ages.map((age) => Math.floor((age ?? -1) / 30))).toEqual([3, 1, 0]);
    // The success makes the worker attempt the deliveries that are due.
    receiver.response = (response) => response.writeHead(200).end();
    finish();
    await becomes(0, 'mcs_webhook_attempts_in_flight');
  });

  it('show that the worker is running', async () => {
    expect(await metrics.value('mcs_webhook_worker_last_poll_age_seconds')).toBeLessThan(100);
    expect(await metrics.value('mcs_webhook_attempt_slots')).toBe(256);
  });
});

describe('Database metrics', () => {
  it('show the connection pools', async () => {
    await service.request('/readyz');
    expect(await metrics.value('mcs_database_pool_connections', { pool: 'main' })).toBeGreaterThan(0);
    expect(await metrics.value('mcs_database_pool_limit', { pool: 'main' })).toBe(10);
    expect(await metrics.value('mcs_database_pool_waiting', { pool: 'main' })).toBe(0);
  });

  it.each(['request_log', 'webhook_event', 'mcp_token'])('show the partitions of %s', async (table) => {
    expect(await metrics.value('mcs_partitions_ahead', { table })).toBe(7);
    expect(await metrics.value('mcs_partitions_default_in_use', { table })).toBe(0);
    const age = await metrics.value('mcs_partitions_oldest_age_seconds', { table });
    // The day before that on which the tests began.
    const [{ days } = { days: 0 }] = await service.database.query<{ days: number }>(
      `SELECT (now() AT TIME ZONE 'UTC')::date - min(right(relname, 8))::date AS days
         FROM pg_inherits JOIN pg_class ON oid = inhrelid
        WHERE inhparent = $1::regclass AND relname ~ '_\\d{8}$'`,
      [table],
    );
    expect(Math.floor((age ?? 0) / 86_400)).toBe(days);
    expect(days).toBeGreaterThan(0);
  });

  it('show the request log writer', async () => {
    const grown = await growth('mcs_request_log_entries_written_total', {}, () =>
      service.request('/detected-accounts/search', {
        body: { external_user_id: 'user-1', names: ['Netflix'] },
        as: service.development,
      }),
    );
    expect(grown).toBe(1);
    expect(await metrics.value('mcs_request_log_entries_waiting')).toBe(0);
    expect(await metrics.value('mcs_request_log_entries_waiting_limit')).toBe(12_345);
    expect(await metrics.value('mcs_request_log_entries_lost_total', { reason: 'dropped' })).toBe(0);
  });
});

describe('Responses that did not wait for their request log entry', () => {
  it('are counted', async () => {
    const search = () =>
      service.request('/detected-accounts/search', {
        body: { external_user_id: 'user-1', names: ['Netflix'] },
        as: service.development,
      });
    expect(await growth('mcs_request_log_responses_without_entry_total', {}, search)).toBe(0);
    const grown = await growth('mcs_request_log_responses_without_entry_total', {}, () =>
      whileLogIsLocked(service.database, async () => {
        const responses = await Promise.all([search(), search()]);
        expect(responses.map(({ status }) => status)).toEqual([200, 200]);
      }),
    );
    expect(grown).toBe(2);
  });
});

describe('The metrics server', () => {
  it('serves process metrics', async () => {
    expect(await metrics.value('process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
    expect(await metrics.value('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0);
  });

  it('serves a liveness check, which needs neither the database nor the metrics', async () => {
    await using other = await startTestApp({ METRICS_PORT: '0' });
    const others = await serveMetrics(other);
    await other.database.cutOff();
    const response = await fetch(new URL('/healthz', others.url));
    expect([response.status, await response.text()]).toEqual([200, 'ok\n']);
    await other.database.reconnect();
  });

  it('serves two paths to GET and HEAD', async () => {
    const response = await fetch(metrics.url);
    expect(response.status).toBe(200);
    // An unread body would keep the connection, and the worker of Jest, open.
    await response.text();
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const origin = new URL(metrics.url).origin;
    for (const path of ['/', '/readyz', '/metrics/', '/healthz/', '/mcp/tokens/create']) {
      expect((await fetch(origin + path)).status).toBe(404);
    }
    // As some health checks do.
    for (const path of ['/metrics', '/healthz']) {
      const probed = await fetch(origin + path, { method: 'HEAD' });
      expect([probed.status, await probed.text()]).toEqual([200, '']);
    }
    const posted = await fetch(metrics.url, { method: 'POST', body: '{}' });
    expect(posted.status).toBe(405);
    expect(posted.headers.get('allow')).toBe('GET, HEAD');
  });

  it('does not serve the API', async () => {
    const { status, body } = await service.request('/metrics');
    expect(status).toBe(404);
    expect(body).toMatchObject({ error_code: 'NOT_FOUND' });
  });

  it('exposes no secrets and no data of clients', async () => {
    const text = await metrics.text();
    for (const credentials of [service.development, service.production]) {
      expect(text).not.toContain(credentials.clientId);
      expect(text).not.toContain(credentials.secret);
    }
    expect(text).not.toContain(receiver.url);
    expect(text).not.toContain('user-of-the-metrics');
    expect(text).not.toContain(service.organizationId);
    expect(text).not.toContain(service.database.url);
  });

  it('shares nothing with another application of the process, and stops with its own', async () => {
    const other = await startTestApp({ METRICS_PORT: '0' });
    const others = await serveMetrics(other);
    await other.request('/healthz');
    await other.request('/healthz');
    const health = { route: '/healthz', status: '200' };
    expect(await others.value('mcs_http_requests_total', health)).toBe(2);
    expect(await metrics.value('mcs_http_requests_total', health)).toBeUndefined();
    // Metrics of processes that run the delivery worker.
    expect(await others.value('mcs_webhook_deliveries')).toBeUndefined();
    await other.close();
    await expect(fetch(others.url)).rejects.toThrow();
    expect(await metrics.value('process_resident_memory_bytes')).toBeGreaterThan(0);
  });

  it('does not start without a port', async () => {
    await using other = await startTestApp();
    await expect(serveMetrics(other)).rejects.toThrow('without METRICS_PORT');
  });

  it('leaves out metrics that the database cannot provide, and reports it', async () => {
    await using other = await startTestApp({ METRICS_PORT: '0' });
    const others = await serveMetrics(other);
    await other.database.query('ALTER TABLE webhook_event_default RENAME TO webhook_event_away');
    expect(await others.value('mcs_partitions_ahead', { table: 'webhook_event' })).toBeUndefined();
    expect(await others.value('mcs_partitions_ahead', { table: 'request_log' })).toBeDefined();
    expect(
      await others.value('mcs_metrics_reading_failures_total', { source: 'partitions of webhook_event' }),
    ).toBeGreaterThan(0);
  });
});
