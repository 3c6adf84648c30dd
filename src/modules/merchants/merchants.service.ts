import { Injectable } from '@nestjs/common';
import {
  AccessibleClients,
  type DashboardActor,
  type RequestingOrganization,
} from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { Transaction, Transactional } from '../../infrastructure/database/index.js';
import { cutToPage } from '../../infrastructure/paging/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { AuditLog } from '../audit-logs/index.js';
import { MerchantCatalogService } from './merchant-catalog.service.js';
import { HiddenMerchant } from './merchant.entity.js';
import { MAX_MERCHANTS, type MerchantResponse } from './merchants.dto.js';
import {
  MerchantsRepository,
  type MerchantFilters,
  type OrganizationEnvironment,
} from './merchants.repository.js';

/** Lists merchants, and manages which of them an organization hides. */
@Injectable()
export class MerchantsService {
  constructor(
    private readonly transaction: Transaction,
    private readonly repository: MerchantsRepository,
    private readonly catalog: MerchantCatalogService,
    private readonly clients: AccessibleClients,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** @throws ApiError INVALID_FIELD, ENVIRONMENT_MISMATCH */
  async list(
    requester: RequestingOrganization,
    requestedEnvironment?: PlatformEnvironment,
  ): Promise<MerchantResponse[]> {
    const { environment } = await this.clients.requested(requester, requestedEnvironment);
    const scope = { organizationId: requester.organizationId, environment };
    return this.repository.page(scope, {}, MAX_MERCHANTS);
  }

  /** Returns a page of the merchants that match the filters, the most relevant first. */
  async page(
    scope: OrganizationEnvironment,
    filters: MerchantFilters,
    limit: number,
  ): Promise<ReturnType<typeof cutToPage<MerchantResponse>>> {
    return cutToPage(await this.repository.page(scope, filters, limit + 1), limit);
  }

  /** Hides a merchant or shows it again. Idempotent. */
  @Transactional()
  async setHidden(
    actor: DashboardActor,
    id: string,
    environment: PlatformEnvironment,
    hidden: boolean,
  ): Promise<MerchantResponse> {
    // Checks that the user may access the environment.
    await this.clients.forEnvironment(actor, environment);
    const scope = { organizationId: actor.organizationId, environment };
    const merchant = await this.catalog.require(id);
    const key = { ...scope, merchantId: merchant.id };
    const hasChanged = hidden
      ? await this.repository.hide({ ...key, hiddenAt: this.clock.now() })
      : await this.transaction.deleteRow(HiddenMerchant, key);
    if (hasChanged) {
      const target = { name: merchant.name, environment };
      await this.auditLog.record({ action: hidden ? 'merchant.hide' : 'merchant.activate', actor, target });
    }
    return { ...merchant, hidden };
  }
}
