import { randomUUID } from 'node:crypto';
import { setImmediate as tick } from 'node:timers/promises';
import type { Transaction } from '../../../infrastructure/database/index.js';
import { newEvent } from '../events/event-body.js';
import { WebhookDeliveriesConfiguration } from '../webhook-deliveries.configuration.js';
import type { DeliveryQueueService } from './delivery-queue.service.js';
import type { LocalWorker } from './local-worker.js';
import { PublicationsBatch } from './publications.batch.js';

const CLIENT = { clientId: randomUUID(), environment: 'development' } as const;
const EVENT = newEvent(
  CLIENT,
  { event: 'MERCHANT_STATUS_UPDATE', merchant: { id: 1, name: 'x' }, data: { type: 'link', status: 'UP' } },
  new Date(),
);
const PUBLISHED = [{ outcome: 'published', eventId: EVENT.id }];

describe('PublicationsBatch', () => {
  let statements: number;
  let settlements: Map<string, Promise<unknown>>;
  let runningClaim: Promise<unknown> | undefined;
  let batch: PublicationsBatch;

  beforeEach(() => {
    statements = 0;
    settlements = new Map();
    runningClaim = undefined;
    const query = (): Promise<unknown[]> => {
      statements += 1;
      return Promise.resolve([]);
    };
    batch = new PublicationsBatch(
      { isOpen: false, manager: { query } } as unknown as Transaction,
      {
        runningSettlementOf: (clientIds: ReadonlySet<string>) =>
          [...clientIds].map((id) => settlements.get(id)).find((settlement) => settlement !== undefined),
      } as unknown as DeliveryQueueService,
      new WebhookDeliveriesConfiguration(),
    );
    batch.serve({
      id: 1,
      get runningClaim() {
        return runningClaim;
      },
      reserve: () => ({ total: 1, perOrganization: new Map(), release: () => undefined }),
    } as unknown as LocalWorker);
  });

  const publish = () =>
    batch.publish([{ event: EVENT, organizationId: '', idempotency: undefined, session: undefined }]);

  it('waits for a settlement that has locked the lanes of the client, also if it fails', async () => {
    let fail: (error: Error) => void = () => undefined;
    settlements.set(CLIENT.clientId, new Promise((_, reject) => (fail = reject)));
    const published = publish();
    // Timers do not end before the next turn of the event loop.
    await tick();
    expect(statements).toBe(0);
    fail(new Error('The database is unavailable'));
    expect(await published).toEqual(PUBLISHED);
    expect(statements).toBe(1);
  });

  it('waits for a claim, unless it publishes several events', async () => {
    let end: () => void = () => undefined;
    runningClaim = new Promise<void>((resolve) => (end = resolve));
    const several = [publish(), publish()];
    await tick();
    expect(statements).toBe(1);
    await Promise.all(several);
    const one = publish();
    await tick();
    expect(statements).toBe(1);
    end();
    expect(await one).toEqual(PUBLISHED);
    expect(statements).toBe(2);
  });

  it('does not wait for long', async () => {
    settlements.set(CLIENT.clientId, new Promise(() => undefined));
    expect(await publish()).toEqual(PUBLISHED);
  });

  it('does not wait for the settlement of another client', async () => {
    settlements.set(randomUUID(), new Promise(() => undefined));
    const published = publish();
    await tick();
    expect(statements).toBe(1);
    expect(await published).toEqual(PUBLISHED);
  });
});
