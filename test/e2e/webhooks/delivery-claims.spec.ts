import { setTimeout as sleep } from 'node:timers/promises';
import { Notifications, type Presence } from '../../../src/infrastructure/database/index.js';
import { WebhookPublisher, exampleEvent } from '../../../src/modules/webhooks/index.js';
import { AttemptSlots } from '../../../src/modules/webhooks/queue/attempt-slots.js';
import { WORKER_LOCK } from '../../../src/modules/webhooks/queue/delivery-queue.repository.js';
import { DeliveryQueueService } from '../../../src/modules/webhooks/queue/delivery-queue.service.js';
import type { LocalWorker } from '../../../src/modules/webhooks/queue/local-worker.js';
import { useTestApp } from '../../support/test-app.js';
import { addEndpoint } from '../../support/webhooks/webhook-receiver.js';

const SLOTS = 16;
const service = useTestApp({ WEBHOOK_TARGETS: 'any', WEBHOOK_CONCURRENCY: String(SLOTS) });

afterEach(() => service.database.query('DELETE FROM webhook_endpoint'));

async function addEndpoints(count: number): Promise<string> {
  const { clientId } = (await service.anotherOrganization()).development;
  for (let index = 0; index < count; index += 1)
    await addEndpoint(service, clientId, `https://receiver.example/${index}`);
  return clientId;
}

async function publish(clientId: string, count: number): Promise<void> {
  const publisher = service.app.get(WebhookPublisher);
  for (let index = 0; index < count; index += 1)
    await publisher.publish({ clientId, environment: 'development' }, exampleEvent('CARD_UPDATED'));
  // A worker would do so when it is notified.
  await service.database.query('UPDATE webhook_lane SET next_due = now() WHERE next_due IS NULL');
}

/** Claims deliveries as a worker does whose slots are all free. By default, other workers do not see it. */
const claim = async (worker: number | null = null) =>
  (await service.app.get(DeliveryQueueService).claim(worker, new AttemptSlots(SLOTS), [])).deliveries;

describe('A claim for endpoints without a recent success', () => {
  it('takes no more than their share, although some could use a second slot', async () => {
    for (const clientId of [await addEndpoints(4), await addEndpoints(4)]) await publish(clientId, 3);
    const endpoints = (await claim()).map(({ endpointId }) => endpointId);
    expect(endpoints).toHaveLength(SLOTS / 2);
    expect(new Set(endpoints).size).toBe(SLOTS / 2);
  });

  it('includes a new one, although the backlogs of those that fail have been due for longer', async () => {
    await publish(await addEndpoints(20), 2);
    await service.database.query(
      `UPDATE webhook_lane SET next_due = now() - interval '1 hour', last_failure_at = now(), consecutive_failures = 1`,
    );
    const clientId = await addEndpoints(1);
    await publish(clientId, 1);
    expect((await claim()).map(({ client }) => client.clientId)).toContain(clientId);
  });
});

describe('A claim', () => {
  it.each([
    { by: 'a worker that has ended', worker: 1, attemptsInterrupted: 1 },
    { by: 'a worker that others do not see, and that may still send', worker: null, attemptsInterrupted: 0 },
  ])(
    'by $by is ended $attemptsInterrupted times before its lease is over',
    async ({ worker, attemptsInterrupted }) => {
      await publish(await addEndpoints(1), 1);
      expect(await claim(worker)).toHaveLength(1);
      const queue = service.app.get(DeliveryQueueService);
      const presence: Presence = [WORKER_LOCK, 2];
      const subscription = service.app.get(Notifications).listen('nothing', () => undefined, presence);
      while (!subscription.isPresent) await sleep(10);
      queue.serve({
        id: 2,
        seesOthers: true,
        claimIds: [],
        onLaneDue: () => undefined,
      } as unknown as LocalWorker);
      for (let look = 0; look < 2; look += 1) await queue.resumeStranded();
      await subscription.close();
      expect(
        await service.database.query('SELECT FROM webhook_delivery WHERE claim_id IS NULL'),
      ).toHaveLength(attemptsInterrupted);
    },
  );
});
