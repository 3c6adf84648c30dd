import { randomBytes } from 'node:crypto';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/programs/ports.js';
import { serveMetrics } from '../../support/logs/metrics.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import {
  startTraceCollector,
  type CollectedSpan,
  type TraceCollector,
} from '../../support/logs/trace-collector.js';
import { startReceiver, type WebhookReceiver } from '../../support/webhooks/webhook-receiver.js';

const [SERVER, CLIENT, PRODUCER, CONSUMER] = [2, 3, 4, 5];
const TRACE_ID = randomBytes(16).toString('hex');
const CLIENT_SPAN = randomBytes(8).toString('hex');
const HIDDEN = 'a-token-that-must-not-be-seen-1234567890';
const API_KEY = 'key of the collector';

let collector: TraceCollector;
let receiver: WebhookReceiver;

beforeAll(async () => {
  collector = await startTraceCollector();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  await collector.close();
});

const start = (environment: Record<string, string> = {}): Promise<TestApp> =>
  startTestApp(
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      WEBHOOK_TARGETS: 'any',
      WEBHOOK_RETRY_SECONDS: '3600,3600',
      ...environment,
    },
    { backgroundWork: true },
  );

describe('With a collector', () => {
  let service: TestApp;
  let spans: readonly CollectedSpan[];
  let requestId: string;
  let clientId: string;

  /** Everything happens once, then the service is closed, which exports the remaining spans. */
  beforeAll(async () => {
    service = await start({
      OTEL_EXPORTER_OTLP_HEADERS: `x-api-key=${encodeURIComponent(API_KEY)},x-tenant=7`,
      OTEL_SERVICE_NAME: 'trial',
    });
    clientId = service.development.clientId;
    rememberSecret(HIDDEN);
    const owner = await service.login('owner');
    const urls = [`${receiver.url}/hook?token=${HIDDEN}`, `http://127.0.0.1:${await freePort()}/refused`];
    for (const url of urls) {
      const { status } = await service.request('/webhook-endpoints/create', {
        body: { environment: 'development', url },
        login: owner,
      });
      expect(status).toBe(200);
    }
    const triggered = await service.request('/development/webhooks/trigger', {
      body: {
        event: 'CARD_UPDATED',
        external_user_id: 'user-1',
        merchant_id: 16,
        data: { card_id: 'card-81' },
      },
      as: service.development,
      // The client does not sample its trace (the last two digits), which must be ignored.
      headers: { traceparent: `00-${TRACE_ID}-${CLIENT_SPAN}-00` },
    });
    expect(triggered.status).toBe(200);
    requestId = triggered.headers.get('x-request-id') ?? '';
    await service.request('/nowhere');
    await receiver.arrived(1);
    await eventually('both attempts are logged', async () => {
      const logged = await service.database.query(`SELECT FROM request_log WHERE type = 'webhook'`);
      return logged.length === 2;
    });
    await service.close();
    spans = collector.spans;
  });

  const ofKind = (kind: number | undefined): readonly CollectedSpan[] =>
    spans.filter((span) => span.kind === kind);
  const triggering = (): CollectedSpan | undefined =>
    ofKind(SERVER).find(({ name }) => name === 'POST /development/webhooks/trigger');

  it('a request is a span in the trace of the client', () => {
    expect(triggering()).toMatchObject({
      traceId: TRACE_ID,
      parentSpanId: CLIENT_SPAN,
      isError: false,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/development/webhooks/trigger',
        'http.response.status_code': 200,
        'mcs.request_id': requestId,
        'mcs.client_id': clientId,
      },
    });
  });

  it('a request without a trace starts one, and an unknown path is not recorded', () => {
    const stray = ofKind(SERVER).find(({ attributes }) => attributes['http.response.status_code'] === 404);
    expect(stray).toMatchObject({ name: 'GET', parentSpanId: undefined });
    expect(stray?.traceId).not.toBe(TRACE_ID);
    expect(stray?.attributes).not.toHaveProperty('http.route');
  });

  it('publishing an event is a child span of the request', () => {
    expect(ofKind(PRODUCER)).toEqual([
      expect.objectContaining({
        name: 'publish CARD_UPDATED',
        traceId: TRACE_ID,
        parentSpanId: triggering()?.spanId,
      }),
    ]);
  });

  it('an attempt is a separate trace that names the event and contains the outgoing request', () => {
    const [published] = ofKind(PRODUCER);
    const attempts = ofKind(CONSUMER);
    expect(attempts).toHaveLength(2);
    for (const attempt of attempts) {
      expect(attempt).toMatchObject({ name: 'deliver CARD_UPDATED', parentSpanId: undefined });
      expect(attempt.attributes['messaging.message.id']).toBe(published?.attributes['messaging.message.id']);
      expect(attempt.attributes['mcs.webhook.attempt']).toBe(1);
    }
    const [good, refused] = attempts.toSorted((left, right) => Number(left.isError) - Number(right.isError));
    expect(refused).toMatchObject({ isError: true, attributes: { 'error.type': 'REFUSED' } });
    expect(ofKind(CLIENT).find(({ parentSpanId }) => parentSpanId === good?.spanId)).toMatchObject({
      traceId: good?.traceId,
      name: 'POST',
      isError: false,
      attributes: {
        'url.full': `${receiver.url}/hook?token=***`,
        'http.response.status_code': 200,
        'mcs.phase.first_byte_ms': expect.any(Number) as number,
      },
    });
    expect(ofKind(CLIENT).find(({ parentSpanId }) => parentSpanId === refused?.spanId)).toMatchObject({
      isError: true,
      attributes: { 'error.type': 'REFUSED' },
    });
  });

  it('receivers get no trace headers', () => {
    for (const { headers } of receiver.arrivals) {
      expect(Object.keys(headers).filter((name) => /trace|baggage/.test(name))).toEqual([]);
    }
  });

  it('the collector gets the configured headers and the service name', () => {
    expect(collector.headers[0]).toMatchObject({
      'x-api-key': API_KEY,
      'x-tenant': '7',
      'content-type': 'application/json',
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': expect.any(String),
    });
    expect([...collector.serviceNames]).toEqual(['trial']);
  });

  it('the collector gets no secrets', () => {
    const text = collector.texts.join();
    expect(text).toContain('url.full');
    for (const secret of [
      HIDDEN,
      service.development.secret,
      service.production.secret,
      service.database.url,
      'session=',
    ]) {
      expect(text).not.toContain(secret);
    }
  });
});

describe('A sampling rate', () => {
  it('of 0 exports no traces, whatever the client requests', async () => {
    const service = await start({ OTEL_TRACES_SAMPLER_ARG: '0' });
    const before = collector.spans.length;
    const headers = { traceparent: `00-${TRACE_ID}-${CLIENT_SPAN}-01` };
    expect((await service.request('/healthz', { headers })).status).toBe(200);
    await service.close();
    expect(collector.spans).toHaveLength(before);
  });
});

describe('An unavailable collector', () => {
  it('loses traces without affecting requests', async () => {
    const service = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
      METRICS_PORT: '0',
    });
    const metrics = await serveMetrics(service);
    expect((await service.request('/healthz')).status).toBe(200);
    await eventually(
      'lost spans are counted',
      async () => ((await metrics.value('mcs_trace_spans_total', { outcome: 'lost' })) ?? 0) > 0,
      15_000,
    );
    expect((await service.request('/healthz')).status).toBe(200);
    // Ends, although nobody takes the spans that are left.
    await service.close();
  }, 30_000);
});
