import { Injectable } from '@nestjs/common';
import { Transaction, violatesUnique } from '../../infrastructure/database/index.js';
import { WebhookEndpoint } from './webhook-endpoint.entity.js';

/** An endpoint as far as sending to it needs it. */
export interface WebhookTarget {
  readonly id: string;
  readonly url: string;
}

const SAME_URL = 'webhook_endpoint_client_url_key';

@Injectable()
export class WebhookEndpointsRepository {
  constructor(private readonly transaction: Transaction) {}

  /** In the order in which they were created. */
  async ofClient(clientId: string): Promise<WebhookEndpoint[]> {
    return this.transaction.manager.find(WebhookEndpoint, {
      where: { clientId },
      order: { createdAt: 'ASC', id: 'ASC' },
    });
  }

  /** The same, of which none is deleted until the caller's transaction ends: rows that name them can be added. */
  async heldOfClient(clientId: string): Promise<WebhookTarget[]> {
    return this.transaction.manager.query<WebhookTarget[]>(
      'SELECT id, url FROM webhook_endpoint WHERE client_id = $1 ORDER BY created_at, id FOR KEY SHARE',
      [clientId],
    );
  }

  /** Lets nobody else add to them until the transaction ends. */
  async lockedOfClient(clientId: string): Promise<WebhookEndpoint[]> {
    await this.transaction.lock(`webhook-endpoints:${clientId}`);
    return this.ofClient(clientId);
  }

  async one(id: string): Promise<WebhookEndpoint | null> {
    return this.transaction.manager.findOneBy(WebhookEndpoint, { id });
  }

  /** Rivals who change it go one after the other. */
  async locked(id: string): Promise<WebhookEndpoint | null> {
    return this.transaction.manager.findOne(WebhookEndpoint, {
      where: { id },
      lock: { mode: 'pessimistic_write' },
    });
  }

  /** @returns whether it was added; a client has no URL twice */
  async add(endpoint: WebhookEndpoint): Promise<boolean> {
    return unlessUrlIsTaken(() => this.transaction.manager.insert(WebhookEndpoint, endpoint));
  }

  /** @returns whether it was changed; a client has no URL twice */
  async change(id: string, changes: Partial<WebhookEndpoint>): Promise<boolean> {
    return unlessUrlIsTaken(() => this.transaction.manager.update(WebhookEndpoint, { id }, changes));
  }

  async remove(id: string): Promise<void> {
    await this.transaction.manager.delete(WebhookEndpoint, { id });
  }
}

async function unlessUrlIsTaken(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (violatesUnique(error, SAME_URL)) return false;
    throw error;
  }
}
