import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Notifications } from '../../../infrastructure/database/index.js';
import type { Metrics } from '../../../infrastructure/metrics/index.js';
import type { QueuedDelivery } from '../delivery.js';
import type { DeliveryQueueService } from '../queue/delivery-queue.service.js';
import type { LocalWorker } from '../queue/local-worker.js';
import type { PublicationsBatch } from '../queue/publications.batch.js';
import type { DeliverySender } from '../sender/delivery-sender.js';
import { WebhookDeliveriesConfiguration } from '../webhook-deliveries.configuration.js';
import { DeliveryWorker } from './delivery-worker.js';

const DELIVERY = { id: '1', lane: { organizationId: null, isProven: true } } as QueuedDelivery;

describe('DeliveryWorker', () => {
  let claims: ((deliveries: readonly QueuedDelivery[], endpointIds?: readonly string[]) => void)[];
  let notifiedAtClaim: (readonly string[])[];
  let claimants: (number | null)[];
  let subscription: { isPresent: boolean; close: () => Promise<void> };
  let notify: (endpointIds: string) => void;
  let sent: string[];
  let served: LocalWorker | undefined;
  let worker: DeliveryWorker;

  beforeEach(() => {
    [claims, notifiedAtClaim, claimants, sent] = [[], [], [], []];
    subscription = { isPresent: true, close: () => Promise.resolve() };
    const queue = {
      claim: (claimant: number | null, _slots: unknown, notified: readonly string[]) => {
        claimants.push(claimant);
        notifiedAtClaim.push(notified);
        return new Promise((resolve) =>
          claims.push((deliveries, endpointIds = []) => resolve({ deliveries, endpointIds })),
        );
      },
      settle: () => Promise.resolve(),
      serve: () => undefined,
    };
    const sender = { send: ({ id }: QueuedDelivery) => Promise.resolve(sent.push(id)) };
    worker = new DeliveryWorker(
      queue as unknown as DeliveryQueueService,
      { serve: (by: LocalWorker | undefined) => (served = by) } as unknown as PublicationsBatch,
      sender as unknown as DeliverySender,
      {
        listen: (_channel: string, listener: typeof notify) => {
          notify = listener;
          return subscription;
        },
      } as unknown as Notifications,
      new WebhookDeliveriesConfiguration(),
      { value: () => undefined } as unknown as Metrics,
    );
  });

  it('starts the deliveries of a claim that was running when it was stopped, and claims no more', async () => {
    worker.onApplicationBootstrap();
    await nextTurn();
    worker.beforeApplicationShutdown();
    expect(served).toBeUndefined();
    claims[0]?.([DELIVERY]);
    await worker.onApplicationShutdown();
    expect([sent, claims.length]).toEqual([['1'], 1]);
  });

  it('reserves slots for publishers, except during a claim and while other workers do not see it', async () => {
    const reserved = (): number | undefined => served?.reserve(new Set(['organization'])).total;
    worker.onApplicationBootstrap();
    await nextTurn();
    expect(reserved()).toBe(0);
    claims[0]?.([]);
    await sleep(1);
    expect(reserved()).toBeGreaterThan(0);
    subscription.isPresent = false;
    expect(reserved()).toBe(0);
    worker.beforeApplicationShutdown();
    await worker.onApplicationShutdown();
  });

  it('claims again for a notification that arrived during a claim of the same endpoint', async () => {
    worker.onApplicationBootstrap();
    await nextTurn();
    notify('endpoint');
    claims[0]?.([]);
    await sleep(10);
    notify('endpoint');
    claims[1]?.([], ['endpoint']);
    await sleep(10);
    expect(notifiedAtClaim).toEqual([[], ['endpoint'], ['endpoint']]);
    worker.beforeApplicationShutdown();
    claims[2]?.([], ['endpoint']);
    await worker.onApplicationShutdown();
  });

  it('leaves claims to their leases while other workers do not see it, because its connection is lost', async () => {
    subscription.isPresent = false;
    worker.onApplicationBootstrap();
    await nextTurn();
    subscription.isPresent = true;
    claims[0]?.([DELIVERY]);
    await sleep(10);
    worker.beforeApplicationShutdown();
    claims[1]?.([]);
    await worker.onApplicationShutdown();
    expect(claimants).toEqual([null, worker.id]);
  });

  it('can be stopped without having started, and more than once', async () => {
    worker.beforeApplicationShutdown();
    worker.beforeApplicationShutdown();
    await worker.onApplicationShutdown();
    await worker.onApplicationShutdown();
    expect(claims).toEqual([]);
  });

  it('rejects a change of mode that is not possible', () => {
    worker.beforeApplicationShutdown();
    expect(() => worker.onApplicationBootstrap()).toThrow('A worker cannot change from draining to waiting');
  });
});
