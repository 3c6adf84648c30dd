import { Injectable, StreamableFile } from '@nestjs/common';
import { stringify } from 'csv-stringify/sync';
import {
  AccessibleClients,
  type DashboardActor,
  type DashboardIdentity,
  type RequestingOrganization,
} from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { Transactional } from '../../infrastructure/database/index.js';
import { ENVIRONMENT_MISMATCH, INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { MESSAGES } from '../../infrastructure/validation/index.js';
import { AuditLog } from '../audit-logs/index.js';
import { MERCHANT_NOT_FOUND, MerchantCatalogService, type CatalogEntry } from './merchant-catalog.service.js';
import { MerchantsRepository, type MerchantFilters, type Viewer } from './merchants.repository.js';
import type { MerchantResponse } from './merchants.dto.js';

/** Maximum number of merchants in a list. The catalog has a few hundred. */
export const MAX_MERCHANTS = 10_000;

export const OTHER_ENVIRONMENT = 'The environment must be that of the client.';

/** Lists merchants, and manages which of them an organization hides. */
@Injectable()
export class MerchantsService {
  constructor(
    private readonly repository: MerchantsRepository,
    private readonly catalog: MerchantCatalogService,
    private readonly clients: AccessibleClients,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  /**
   * @param requested may be absent for an API client, which belongs to one environment
   * @throws ApiError ENVIRONMENT_MISMATCH if the client belongs to the other environment
   */
  async list(
    requester: RequestingOrganization,
    requested?: PlatformEnvironment,
  ): Promise<MerchantResponse[]> {
    if ('credential' in requester) {
      if (requested === undefined) throw INVALID_FIELD.error(MESSAGES.required('environment'));
      return this.repository.list(await this.viewer(requester, requested), MAX_MERCHANTS);
    }
    if (requested !== undefined && requested !== requester.environment)
      throw ENVIRONMENT_MISMATCH.error(OTHER_ENVIRONMENT);
    return this.repository.list(requester, MAX_MERCHANTS);
  }

  /** Returns merchants that match the filters, the most relevant first. */
  async page(
    { organizationId }: Pick<RequestingOrganization, 'organizationId'>,
    environment: PlatformEnvironment,
    filters: MerchantFilters,
    limit: number,
  ): Promise<MerchantResponse[]> {
    return this.repository.page({ organizationId, environment }, filters, limit);
  }

  /** Idempotent. */
  @Transactional()
  async hide(actor: DashboardActor, id: string, environment: PlatformEnvironment): Promise<MerchantResponse> {
    const viewer = await this.viewer(actor, environment);
    const merchant = await this.merchant(id);
    const target = { name: merchant.name, environment };
    if (await this.repository.hide(viewer, merchant.id, this.clock.now()))
      await this.auditLog.record({ action: 'merchant.hide', actor, target });
    return { ...merchant, hidden: true };
  }

  /** Idempotent. */
  @Transactional()
  async activate(
    actor: DashboardActor,
    id: string,
    environment: PlatformEnvironment,
  ): Promise<MerchantResponse> {
    const viewer = await this.viewer(actor, environment);
    const merchant = await this.merchant(id);
    const target = { name: merchant.name, environment };
    if (await this.repository.activate(viewer, merchant.id))
      await this.auditLog.record({ action: 'merchant.activate', actor, target });
    return { ...merchant, hidden: false };
  }

  @Transactional()
  async export(actor: DashboardActor, environment: PlatformEnvironment): Promise<StreamableFile> {
    const merchants = await this.list(actor, environment);
    const table = stringify(merchants, {
      header: true,
      columns: ['id', 'name', 'hidden'],
      // A spreadsheet must not run a name as a formula.
      escape_formulas: true,
      cast: { boolean: String },
    });
    await this.auditLog.record({ action: 'merchant.export', actor, target: { environment } });
    return new StreamableFile(Buffer.from(table), {
      type: 'text/csv; charset=utf-8',
      disposition: `attachment; filename="merchants-${environment}.csv"`,
    });
  }

  private async merchant(id: string): Promise<CatalogEntry> {
    const merchant = await this.catalog.byPathId(id);
    if (!merchant) throw MERCHANT_NOT_FOUND.error();
    return merchant;
  }

  /** @throws ApiError INVALID_FIELD if this deployment does not serve the environment */
  private async viewer(actor: DashboardIdentity, environment: PlatformEnvironment): Promise<Viewer> {
    await this.clients.forEnvironment(actor, environment);
    return { organizationId: actor.organizationId, environment };
  }
}
