import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { WebhookDeliveriesConfiguration } from '../../../src/modules/webhooks/webhook-deliveries.configuration.js';
import { DeliveryQueueRepository } from '../../../src/modules/webhooks/queue/delivery-queue.repository.js';
import { useTestApp } from '../../support/test-app.js';
import { adaptWidth } from '../../support/webhooks/adapted-width.js';

/*
 * The statement that settles attempts changes the width of many lanes at once, and the simulation in bench/ uses a function.
 * Both must be the same rule.
 */

const BATCHES = 10_000;
const MAX_WIDTH = 100;
const LANES_PER_STATEMENT = 50;

const positive = (max: number): fc.Arbitrary<number> =>
  fc.oneof(fc.integer({ min: 1, max }), fc.double({ min: 1, max, noNaN: true }));

const batch = fc.record({
  lane: fc.record({
    width: positive(MAX_WIDTH),
    ceiling: fc.option(positive(MAX_WIDTH)),
    baseline: fc.option(fc.double({ min: 0, max: 10_000, noNaN: true })),
    allowedFailures: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 5, noNaN: true })),
    usualFailures: fc.oneof(fc.constantFrom(0, 0.0001), fc.double({ min: 0.0001, max: 0.2, noNaN: true })),
  }),
  consecutiveFailures: fc.integer({ min: 0, max: 7 }),
  /** Attempts in flight that are not settled with the batch. */
  others: fc.integer({ min: 0, max: MAX_WIDTH }),
  attempts: fc.array(
    fc.record({
      succeeded: fc.constantFrom(true, false, null),
      // Also latencies close to each other, so that lanes are neither always slow nor always fast.
      latency: fc.oneof(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 10_000 })),
      retryIn: fc.constantFrom(null, 180_000),
    }),
    { minLength: 1, maxLength: 6 },
  ),
});

/** After thousands of attempts of 0 ms: PostgreSQL does not multiply such a number with one below 1. */
const ALWAYS_AT_ONCE: typeof batch extends fc.Arbitrary<infer Batch> ? Batch : never = {
  lane: { width: 1, ceiling: null, baseline: Number.MIN_VALUE, usualFailures: 0, allowedFailures: 0 },
  consecutiveFailures: 0,
  others: 0,
  attempts: [{ succeeded: true, latency: 0, retryIn: null }],
};

const service = useTestApp();

interface LaneRow {
  readonly endpoint_id: string;
  readonly adaptive_width: number;
  readonly width_ceiling: number | null;
  readonly baseline_ms: number | null;
  readonly usual_failures: number;
  readonly allowed_failures: number;
  readonly in_flight: number;
}

const ENTRY = {
  environment: 'development',
  createdAt: new Date(),
  type: 'webhook',
  method: 'POST',
  path: null,
  url: 'https://example.com',
  event: 'CARD_UPDATED',
  statusCode: 200,
  latencyMilliseconds: 1,
  sessionId: null,
  taskId: null,
  externalUserId: null,
} as const;

it(`settles ${BATCHES} random batches with the widths of adaptWidth()`, async () => {
  expect(service.app.get(WebhookDeliveriesConfiguration).endpointConcurrency).toBe(MAX_WIDTH);
  const batches = [...fc.sample(batch, BATCHES), ALWAYS_AT_ONCE].map((each) => ({
    ...each,
    id: randomUUID(),
  }));
  const lanes = batches.map(({ id, attempts }) =>
    attempts.map((attempt) => ({ ...attempt, endpointId: id, claimId: randomUUID() })),
  );
  const settlements = lanes.flat();
  await service.database.query(
    `INSERT INTO webhook_endpoint (id, client_id, url, created_at)
     SELECT id, $1, 'https://example.com/' || id, now() FROM unnest($2::uuid[]) AS id`,
    [service.development.clientId, batches.map(({ id }) => id)],
  );
  await service.database.query(
    `INSERT INTO webhook_lane (endpoint_id, adaptive_width, width_ceiling, baseline_ms, in_flight, consecutive_failures,
                               usual_failures, allowed_failures)
     SELECT * FROM unnest($1::uuid[], $2::float8[], $3::float8[], $4::float8[], $5::integer[], $6::integer[], $7::float8[],
                          $8::float8[])`,
    [
      batches.map(({ id }) => id),
      batches.map(({ lane }) => lane.width),
      batches.map(({ lane }) => lane.ceiling),
      batches.map(({ lane }) => lane.baseline),
      batches.map(({ others, attempts }) => others + attempts.length),
      batches.map(({ consecutiveFailures }) => consecutiveFailures),
      batches.map(({ lane }) => lane.usualFailures),
      batches.map(({ lane }) => lane.allowedFailures),
    ],
  );
  const deliveries = await service.database.query<{ id: string; claim_id: string }>(
    `INSERT INTO webhook_delivery (endpoint_id, event_id, event_created_at, url, attempts_allowed, due_at, attempts,
                                   claim_id, attempt_started_at, lease_until)
     SELECT endpoint_id, gen_random_uuid(), now(), '', 3, now(), 1, claim_id, now(), now() + interval '1 minute'
       FROM unnest($1::uuid[], $2::uuid[]) AS claimed (endpoint_id, claim_id)
     RETURNING id, claim_id`,
    [settlements.map(({ endpointId }) => endpointId), settlements.map(({ claimId }) => claimId)],
  );
  const idOf = new Map(deliveries.map(({ id, claim_id: claimId }) => [claimId, id]));

  const repository = service.app.get(DeliveryQueueRepository);
  for (let first = 0; first < lanes.length; first += LANES_PER_STATEMENT) {
    const settled = lanes.slice(first, first + LANES_PER_STATEMENT).flat();
    const { ids } = await repository.settle(
      settled.map((each) => ({
        ...each,
        allowed: 3,
        deliveryId: idOf.get(each.claimId) ?? '',
        entry: { ...ENTRY, clientId: service.development.clientId },
      })),
    );
    expect(ids.size).toBe(settled.length);
  }

  const rows = await service.database.query<LaneRow>('SELECT * FROM webhook_lane');
  const byId = new Map(rows.map((row) => [row.endpoint_id, row]));
  const differing = batches.filter(({ id, lane, attempts, others, consecutiveFailures }) => {
    const successes = attempts.filter(({ succeeded }) => succeeded);
    const expected = adaptWidth(
      lane,
      {
        succeeded: successes.length,
        failed: attempts.filter(({ succeeded }) => succeeded === false).length,
        latency: successes.reduce((sum, { latency }) => sum + latency, 0) / (successes.length || 1),
        inFlight: others + attempts.length,
        consecutiveFailures,
      },
      MAX_WIDTH,
    );
    const row = byId.get(id);
    return !(
      row?.in_flight === others &&
      isClose(row.adaptive_width, expected.width) &&
      isClose(row.width_ceiling, expected.ceiling) &&
      isClose(row.baseline_ms, expected.baseline) &&
      isClose(row.usual_failures, expected.usualFailures) &&
      isClose(row.allowed_failures, expected.allowedFailures)
    );
  });
  expect(differing).toEqual([]);
  // Otherwise the batches would not test all parts of the rule.
  expect(rows.filter((row) => row.width_ceiling === null).length).toBeGreaterThan(BATCHES / 50);
  expect(rows.filter((row) => row.adaptive_width === MAX_WIDTH).length).toBeGreaterThan(0);
}, 60_000);

/** PostgreSQL and JavaScript round differently. */
function isClose(actual: number | null, expected: number | null): boolean {
  if (actual === null || expected === null) return actual === expected;
  return Math.abs(actual - expected) <= 1e-9 * Math.max(1, Math.abs(expected));
}
