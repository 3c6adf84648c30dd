import { Injectable } from '@nestjs/common';
import { In, IsNull, Not } from 'typeorm';
import { Transaction, Transactional } from '../../infrastructure/database/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { MERCHANT_SESSION_TYPES } from '../../infrastructure/event-catalog/index.js';
import { MerchantCatalogService } from '../merchants/index.js';
import { WebhookPublisher } from '../webhooks/index.js';
import { MerchantStatus } from './merchant-status.entity.js';
import type { MerchantStatusResponse, SetMerchantStatusRequest } from './merchant-statuses.dto.js';
import { MerchantStatusesRepository } from './merchant-statuses.repository.js';

const CLIENTS_PER_PAGE = 500;
const PENDING = { where: { finishedAt: IsNull() }, order: { requestedAt: 'ASC' } } as const;

export type StatusByType = Readonly<Record<MerchantStatusResponse['type'], MerchantStatusResponse['status']>>;

/** Accepts statuses of merchants, and notifies clients of them. */
@Injectable()
export class MerchantStatusesService {
  constructor(
    private readonly transaction: Transaction,
    private readonly repository: MerchantStatusesRepository,
    private readonly merchants: MerchantCatalogService,
    private readonly publisher: WebhookPublisher,
    private readonly clock: Clock,
  ) {}

  @Transactional()
  async set(id: string, request: SetMerchantStatusRequest): Promise<MerchantStatusResponse> {
    const merchant = await this.merchants.require(id);
    const { type, status } = request;
    const key = { merchantId: merchant.id, type };
    // If the status changes, all clients are notified again.
    const row = { status, requestedAt: this.clock.now(), lastClientId: null, published: 0, finishedAt: null };
    const { manager } = this.transaction;
    const insertion = manager.createQueryBuilder().insert().into(MerchantStatus).orIgnore();
    await insertion.values({ ...key, ...row }).execute();
    await manager.update(MerchantStatus, { ...key, status: Not(status) }, row);
    return toResponse(await manager.findOneByOrFail(MerchantStatus, key));
  }

  async list(id: string): Promise<MerchantStatusResponse[]> {
    const merchant = await this.merchants.require(id);
    return (await this.find([merchant.id])).map(toResponse);
  }

  /** Returns a function that looks up the statuses of one of these merchants. A type whose status was never set is `UP`. */
  async statusesOf(merchantIds: readonly number[]): Promise<(merchantId: number) => StatusByType> {
    const down = (await this.find(merchantIds)).filter(({ status }) => status === 'DOWN');
    return (id) => {
      const types = down.filter(({ merchantId }) => merchantId === id).map(({ type }) => type);
      return Object.fromEntries(
        MERCHANT_SESSION_TYPES.map((type) => [type, types.includes(type) ? 'DOWN' : 'UP']),
      ) as StatusByType;
    };
  }

  /** Returns the statuses that clients have yet to be notified of. */
  pending(): Promise<MerchantStatus[]> {
    return this.transaction.manager.find(MerchantStatus, PENDING);
  }

  /**
   * Publishes the event for the next clients, and records the progress in the same transaction. If the process ends, the
   * transaction is rolled back, and any process can continue from there.
   *
   * @param of the status; by default, the oldest
   * @returns false if no client has to be notified, or other processes are notifying them
   */
  @Transactional()
  async publishPage(
    of: Partial<Pick<MerchantStatus, 'merchantId' | 'type'>> = {},
    pageSize = CLIENTS_PER_PAGE,
  ): Promise<boolean> {
    const pending = await this.transaction.manager.findOne(MerchantStatus, {
      ...PENDING,
      where: { ...PENDING.where, ...(of.type && { merchantId: of.merchantId, type: of.type }) },
      lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' },
    });
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
    const progress = {
      lastClientId: clients.at(-1)?.clientId ?? pending.lastClientId,
      published: pending.published + clients.length,
      finishedAt: clients.length < pageSize ? this.clock.now() : null,
    };
    await this.transaction.manager.update(MerchantStatus, { merchantId, type }, progress);
    return true;
  }

  private find(merchantIds: readonly number[]): Promise<MerchantStatus[]> {
    return this.transaction.manager.find(MerchantStatus, {
      where: { merchantId: In([...merchantIds]) },
      order: { merchantId: 'ASC', type: 'ASC' },
    });
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
