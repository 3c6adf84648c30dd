import { Injectable } from '@nestjs/common';
import { MoreThan } from 'typeorm';
import { AccessibleClients, type RequestingOrganization } from '../../infrastructure/auth/index.js';
import { Transaction, Transactional, type Check } from '../../infrastructure/database/index.js';
import type { AttributedClient, RequestAttribution } from '../../infrastructure/http/index.js';
import { CursorCodec, type CursorScope } from '../../infrastructure/crypto/index.js';
import { cutToPage, type RequestedPage } from '../../infrastructure/paging/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { MerchantCatalogService, type CatalogEntry } from '../merchants/index.js';
import { MerchantAccount } from './merchant-account.entity.js';
import type {
  ListMerchantAccountsQuery,
  MerchantAccountPage,
  MerchantAccountResponse,
} from './merchant-accounts.dto.js';
import { type AccountKey } from './merchant-accounts.repository.js';
import { MERCHANT_ACCOUNT_DISCONNECTED, MERCHANT_ACCOUNT_NOT_FOUND } from './merchant-accounts-errors.js';

/** Throws if the account, which is connected and locked, is not as expected. */
export type AccountCheck = Check<Pick<MerchantAccount, 'stateSetAt'>>;

/**
 * Accounts of users at merchants: whether they are connected, and since when. The statement that publishes an `AUTHENTICATED` or
 * `ACCOUNT_LOGIN_REQUIRED` event connects or disconnects the account (`sql/change-accounts.ts`). `UnlinkingService` of the module
 * merchant-gateway deletes the accounts of an erased user.
 */
@Injectable()
export class MerchantAccountsService {
  constructor(
    private readonly transaction: Transaction,
    private readonly merchants: MerchantCatalogService,
    private readonly clients: AccessibleClients,
    private readonly cursors: CursorCodec,
    private readonly clock: Clock,
  ) {}

  /**
   * Locks a connected account until the transaction ends.
   *
   * @throws ApiError MERCHANT_ACCOUNT_NOT_FOUND if the user has never signed in
   * @throws ApiError MERCHANT_ACCOUNT_DISCONNECTED if the account is disconnected
   */
  async lockConnected(key: AccountKey, check?: AccountCheck): Promise<MerchantAccount> {
    const account = await this.transaction.lockRow(MerchantAccount, key);
    if (!account) throw MERCHANT_ACCOUNT_NOT_FOUND.error();
    if (account.state === 'disconnected') throw MERCHANT_ACCOUNT_DISCONNECTED.error();
    check?.(account);
    return account;
  }

  /** Returns the account of a user at a merchant; undefined if the user has never signed in there. */
  async find(key: AccountKey): Promise<MerchantAccountResponse | undefined> {
    const account = await this.transaction.manager.findOneBy(MerchantAccount, key);
    return account ? toResponse(account, await this.merchants.byIds([key.merchantId])) : undefined;
  }

  /** Returns whether the account is connected, and was last signed in to in the session. */
  isConnectedBy(sessionId: string, { clientId, externalUserId, merchantId }: AccountKey): Promise<boolean> {
    const account = { clientId, externalUserId, merchantId, sessionId, state: 'connected' as const };
    return this.transaction.manager.existsBy(MerchantAccount, account);
  }

  /**
   * Disconnects a connected account because the client requested it. Therefore no event is published.
   *
   * @throws ApiError MERCHANT_ACCOUNT_NOT_FOUND or MERCHANT_ACCOUNT_DISCONNECTED, like `lockConnected`
   */
  @Transactional()
  async disconnect(key: AccountKey, check?: AccountCheck): Promise<MerchantAccountResponse> {
    const account = await this.lockConnected(key, check);
    const unlinkedAt = this.clock.now();
    // The clock of the publisher that connected the account may be ahead. An event before that must not connect it again.
    const stateSetAt = new Date(Math.max(unlinkedAt.getTime(), account.stateSetAt.getTime()));
    const changes = { state: 'disconnected', stateSetAt, unlinkedAt } as const;
    await this.transaction.manager.update(MerchantAccount, key, changes);
    const merchants = await this.merchants.byIds([key.merchantId]);
    return toResponse({ ...account, ...changes }, merchants);
  }

  /** @throws ApiError like `AccessibleClients.requested()` */
  async list(
    requester: RequestingOrganization,
    { environment, external_user_id, ...page }: ListMerchantAccountsQuery,
    attribution: RequestAttribution = {},
  ): Promise<MerchantAccountPage> {
    attribution.externalUserId = external_user_id;
    const client = await this.clients.requested(requester, environment);
    return this.page(client, external_user_id, page);
  }

  /** Returns a page of a user's accounts, in the order of the merchants' IDs. An unknown user has no accounts. */
  async page(
    { clientId }: Pick<AttributedClient, 'clientId'>,
    externalUserId: string,
    { cursor, limit }: RequestedPage,
  ): Promise<MerchantAccountPage> {
    const scope: CursorScope = ['merchant_accounts', clientId, externalUserId];
    const after = cursor === undefined ? 0 : Number(this.cursors.decode(cursor, scope)[0]);
    // In the order of the merchant IDs, which does not change when the state of an account does.
    const found = await this.transaction.manager.find(MerchantAccount, {
      where: { clientId, externalUserId, merchantId: MoreThan(after) },
      order: { merchantId: 'ASC' },
      take: limit + 1,
    });
    const { entries: accounts, last } = cutToPage(found, limit);
    const merchants = await this.merchants.byIds(accounts.map(({ merchantId }) => merchantId));
    return {
      data: accounts.map((account) => toResponse(account, merchants)),
      next_cursor: last ? this.cursors.encode([last.merchantId], scope) : null,
      limit,
    };
  }
}

function toResponse(
  { merchantId, state, stateSetAt, sessionId }: MerchantAccount,
  merchants: ReadonlyMap<number, CatalogEntry>,
): MerchantAccountResponse {
  const name = merchants.get(merchantId)?.name ?? '';
  return { merchant: { id: merchantId, name }, state, since: stateSetAt, session_id: sessionId };
}
