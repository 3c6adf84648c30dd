import { setTimeout as pause } from 'node:timers/promises';
import { exampleEvent, WebhookPublisher } from '../../../src/modules/webhooks/index.js';
import { DeliveryWorker } from '../../../src/modules/webhooks/worker/delivery-worker.js';
import { useTestApp } from '../../support/test-app.js';
import { addEndpoint, useReceiver } from '../../support/webhooks/webhook-receiver.js';

const service = useTestApp({ WEBHOOK_TARGETS: 'any' }, { backgroundWork: true });
const receiver = useReceiver();

/** Returns the workers that other processes see as connected. */
const connectedWorkers = () =>
  service.database.query(
    `SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = $1
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [service.app.get(DeliveryWorker).id],
  );

describe('A worker that shuts down', () => {
  it('finishes its attempts, and stays connected until then, so that no other process repeats them', async () => {
    let respond = (): void => undefined;
    receiver.response = (response) => void (respond = () => response.writeHead(200).end());
    const { clientId } = service.development;
    await addEndpoint(service, clientId, receiver.url);
    await service.app
      .get(WebhookPublisher)
      .publish({ clientId, environment: 'development' }, exampleEvent('CARD_UPDATED'));
    await receiver.arrived(1);

    const worker = service.app.get(DeliveryWorker);
    worker.beforeApplicationShutdown();
    const shutdown = worker.onApplicationShutdown();
    await pause(500);
    expect(await connectedWorkers()).toHaveLength(1);
    respond();
    await shutdown;
    expect(await connectedWorkers()).toHaveLength(0);
    expect(await service.database.query('SELECT status_code, reason FROM request_log')).toEqual([
      { status_code: 200, reason: null },
    ]);
  });
});
