import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { RecurringJob, Transactional } from '../../infrastructure/database/index.js';
import { Clock, SECOND } from '../../infrastructure/time/index.js';
import { MerchantCatalogService } from '../merchants/index.js';
import { MERCHANT_SESSION_TYPES, WebhookPublisher } from '../webhooks/index.js';
import type { MerchantStatus } from './merchant-status.entity.js';
import type { MerchantStatusResponse, SetMerchantStatusRequest } from './merchant-statuses.dto.js';
import { MerchantStatusesRepository } from './merchant-statuses.repository.js';

/** Clients that are notified in one transaction. */
const CLIENTS_PER_PAGE = 500;

/** Whether each type of session works at a merchant. */
export type StatusByType = Readonly<Record<MerchantStatusResponse['type'], MerchantStatusResponse['status']>>;

/** Accepts statuses of merchants, and notifies clients of them. */
@Injectable()
export class MerchantStatusesService extends RecurringJob {
  constructor(
    private readonly repository: MerchantStatusesRepository,
    private readonly merchants: MerchantCatalogService,
    private readonly publisher: WebhookPublisher,
    private readonly clock: Clock,
  ) {
    super('MerchantStatuses', 'Clients could not be notified of the status of a merchant');
  }

  @Transactional()
  async set(id: string, request: SetMerchantStatusRequest): Promise<MerchantStatusResponse> {
    const merchant = await this.merchants.require(id);
    await this.repository.set(merchant.id, request, this.clock.now());
    const statuses = await this.repository.findByMerchants([merchant.id]);
    return toResponse(statuses.find(({ type }) => type === request.type) as MerchantStatus);
  }

  async list(id: string): Promise<MerchantStatusResponse[]> {
    const merchant = await this.merchants.require(id);
    return (await this.repository.findByMerchants([merchant.id])).map(toResponse);
  }

  /** Returns a function that looks up the statuses of one of these merchants. A type whose status was never set is `UP`. */
  async statusesOf(merchantIds: readonly number[]): Promise<(merchantId: number) => StatusByType> {
    const down = (await this.repository.findByMerchants(merchantIds)).filter(
      ({ status }) => status === 'DOWN',
    );
    return (id) => {
      const types = down.filter(({ merchantId }) => merchantId === id).map(({ type }) => type);
      return Object.fromEntries(
        MERCHANT_SESSION_TYPES.map((type) => [type, types.includes(type) ? 'DOWN' : 'UP']),
      ) as StatusByType;
    };
  }

  /** Notifies clients of new statuses, page by page. */
  @Interval(SECOND)
  run(): Promise<void> {
    return this.start(async () => {
      while (!this.stopped.aborted && (await this.publishPage()));
    });
  }

  /**
   * Publishes the event for the next clients, and records the progress in the same transaction. If the process ends, the
   * transaction is rolled back, and any process can continue from there.
   *
   * @returns false if no client has to be notified, or other processes are notifying them
   */
  @Transactional()
  async publishPage(pageSize = CLIENTS_PER_PAGE): Promise<boolean> {
    const pending = await this.repository.lockPending();
    if (!pending) return false;
    const { merchantId, type, status } = pending;
    const merchant = await this.merchants.require(merchantId);
    const clients = await this.repository.nextClients(pending, pageSize);
    await this.publisher.publishAll(
      clients.map((client) => ({
        client,
        event: { event: 'MERCHANT_STATUS_UPDATE', merchant, data: { type, status } },
      })),
    );
    await this.repository.recordProgress(
      pending,
      clients,
      clients.length < pageSize ? this.clock.now() : null,
    );
    return true;
  }
}

function toResponse(status: MerchantStatus): MerchantStatusResponse {
  return {
    merchant_id: status.merchantId,
    type: status.type,
    status: status.status,
    published: status.published,
    requested_at: status.requestedAt,
    finished_at: status.finishedAt,
  };
}
