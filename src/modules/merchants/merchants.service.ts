import { Injectable } from '@nestjs/common';
import {
  AccessibleClients,
  type DashboardActor,
  type RequestingOrganization,
} from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { Transaction, Transactional } from '../../infrastructure/database/index.js';
import { CursorCodec, type CursorScope } from '../../infrastructure/crypto/index.js';
import { cutToPage, type RequestedPage } from '../../infrastructure/paging/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { AuditLog } from '../audit-logs/index.js';
import { MerchantCatalogService, type CatalogEntry } from './merchant-catalog.service.js';
import { HiddenMerchant } from './merchant.entity.js';
import { MAX_MERCHANTS, type MerchantResponse } from './merchants.dto.js';
import {
  MerchantsRepository,
  type ListedMerchant,
  type MerchantFilters,
  type OrganizationEnvironment,
} from './merchants.repository.js';

/** Names in a form. A thousand of them take 45 KB; a form also accepts the names that it does not list. */
const MAX_CHOICES = 1_000;

/** Lists merchants, and manages which of them an organization hides. */
@Injectable()
export class MerchantsService {
  constructor(
    private readonly transaction: Transaction,
    private readonly repository: MerchantsRepository,
    private readonly catalog: MerchantCatalogService,
    private readonly clients: AccessibleClients,
    private readonly auditLog: AuditLog,
    private readonly cursors: CursorCodec,
    private readonly clock: Clock,
  ) {}

  /** @throws ApiError INVALID_FIELD, ENVIRONMENT_MISMATCH */
  async list(
    requester: RequestingOrganization,
    requestedEnvironment?: PlatformEnvironment,
  ): Promise<MerchantResponse[]> {
    const { environment } = await this.clients.requested(requester, requestedEnvironment);
    const scope = { organizationId: requester.organizationId, environment };
    return (await this.repository.page(scope, {}, MAX_MERCHANTS)).map(toResponse);
  }

  /** Returns the first names of the merchants that the organization does not hide, for a list to choose from. */
  async namesToChoose(actor: DashboardActor, environment: PlatformEnvironment): Promise<string[]> {
    const scope = { organizationId: actor.organizationId, environment };
    const found = await this.repository.page(scope, { hidden: false }, MAX_CHOICES);
    return found.map(({ name }) => name);
  }

  /** Returns a page of the merchants that match the filters, the most relevant first. @throws ApiError INVALID_CURSOR_FORMAT */
  async page(
    scope: OrganizationEnvironment,
    filters: MerchantFilters,
    { cursor, limit }: RequestedPage,
  ): Promise<{ readonly data: MerchantResponse[]; readonly next_cursor: string | null }> {
    const { organizationId, environment } = scope;
    const { matchKeys = [], hidden } = filters;
    const list: CursorScope = ['merchants', organizationId, environment, String(hidden), ...matchKeys];
    const [rank, beginning, id] = cursor === undefined ? [] : this.cursors.decode(cursor, list);
    const after =
      id === undefined ? undefined : { rank: Number(rank), beginning: String(beginning), id: Number(id) };
    const found = await this.repository.page(scope, filters, limit + 1, after);
    const { entries, last } = cutToPage(found, limit);
    return {
      data: entries.map(toResponse),
      next_cursor: last ? this.cursors.encode([last.rank, last.beginning, last.id], list) : null,
    };
  }

  /** Returns the merchants of the catalog with these IDs, which need not be valid, in their order. */
  async named(ids: readonly string[]): Promise<Pick<MerchantResponse, 'id' | 'name'>[]> {
    const found = await this.catalog.byIds(ids.map(Number));
    return ids.flatMap((id) => found.get(Number(id)) ?? []);
  }

  /** Hides several merchants, each with an entry of the audit log. Idempotent. */
  @Transactional()
  async hideAll(
    actor: DashboardActor,
    ids: readonly string[],
    environment: PlatformEnvironment,
  ): Promise<void> {
    const hidden: CatalogEntry[] = [];
    // All rows in one order, and then the entries: the first entry locks the head of the audit log until the end, so a user who
    // waited for a row after that could wait for one who waits for the head.
    for (const id of ids.toSorted()) {
      const { merchant, hasChanged } = await this.change(actor, id, environment, true);
      if (hasChanged) hidden.push(merchant);
    }
    for (const merchant of hidden) await this.record(actor, merchant, environment, true);
  }

  /** Hides a merchant or shows it again. Idempotent. */
  @Transactional()
  async setHidden(
    actor: DashboardActor,
    id: string,
    environment: PlatformEnvironment,
    hidden: boolean,
  ): Promise<MerchantResponse> {
    const { merchant, hasChanged } = await this.change(actor, id, environment, hidden);
    if (hasChanged) await this.record(actor, merchant, environment, hidden);
    return { ...merchant, hidden };
  }

  /** Does not record the change. */
  private async change(
    actor: DashboardActor,
    id: string,
    environment: PlatformEnvironment,
    hidden: boolean,
  ): Promise<{ readonly merchant: CatalogEntry; readonly hasChanged: boolean }> {
    // Checks that the user may access the environment.
    await this.clients.forEnvironment(actor, environment);
    const merchant = await this.catalog.require(id);
    const key = { organizationId: actor.organizationId, environment, merchantId: merchant.id };
    const hasChanged = hidden
      ? await this.repository.hide({ ...key, hiddenAt: this.clock.now() })
      : await this.transaction.deleteRow(HiddenMerchant, key);
    return { merchant, hasChanged };
  }

  private async record(
    actor: DashboardActor,
    { name }: CatalogEntry,
    environment: PlatformEnvironment,
    hidden: boolean,
  ): Promise<void> {
    const action = hidden ? 'merchant.hide' : 'merchant.activate';
    await this.auditLog.record({ action, actor, target: { name, environment } });
  }
}

/** Leaves out the place in a list. */
function toResponse({ id, name, hidden }: ListedMerchant): MerchantResponse {
  return { id, name, hidden };
}
