import { WebhookPublisher, exampleEvent } from '../../../src/modules/webhooks/index.js';
import { AttemptSlots } from '../../../src/modules/webhooks/queue/attempt-slots.js';
import { DeliveryQueueService } from '../../../src/modules/webhooks/queue/delivery-queue.service.js';
import { useTestApp } from '../../support/test-app.js';
import { addEndpoint } from '../../support/webhooks/webhook-receiver.js';

const SLOTS = 16;
/** No process of its own claims deliveries. */
const WORKER = 1;
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

/** Claims deliveries as a worker does whose slots are all free. */
const claim = async () =>
  (await service.app.get(DeliveryQueueService).claim(WORKER, new AttemptSlots(SLOTS), [])).deliveries;

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
