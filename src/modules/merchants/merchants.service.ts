import { Injectable, StreamableFile } from '@nestjs/common';
import { stringify } from 'csv-stringify/sync';
import {
  AccessibleClients,
  type DashboardActor,
  type RequestingOrganization,
} from '../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { Transactional } from '../../infrastructure/database/index.js';
import { ENVIRONMENT_MISMATCH, INVALID_FIELD } from '../../infrastructure/errors/index.js';
import type { AttributedClient } from '../../infrastructure/http/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { MESSAGES } from '../../infrastructure/validation/index.js';
import { AuditLog } from '../audit-logs/index.js';
import { MerchantCatalogService } from './merchant-catalog.service.js';
import { MerchantsRepository, type MerchantFilters } from './merchants.repository.js';
import type { MerchantResponse } from './merchants.dto.js';

/** Maximum number of merchants in a list. The catalog has a few hundred. */
export const MAX_MERCHANTS = 10_000;

export const OTHER_ENVIRONMENT = 'The environment must be that of the client.';

/**
 * Returns the client whose data an operation of both APIs reads.
 *
 * @param environment may be absent for an API client, which belongs to one environment
 * @throws ApiError ENVIRONMENT_MISMATCH if the client belongs to the other environment
 * @throws ApiError INVALID_FIELD if a dashboard user names no environment, or one that this deployment does not serve
 */
export async function requestedClient(
  clients: AccessibleClients,
  requester: RequestingOrganization,
  environment?: PlatformEnvironment,
): Promise<AttributedClient> {
  if ('credential' in requester) {
    if (environment === undefined) throw INVALID_FIELD.error(MESSAGES.required('environment'));
    return clients.forEnvironment(requester, environment);
  }
  if (environment !== undefined && environment !== requester.environment)
    throw ENVIRONMENT_MISMATCH.error(OTHER_ENVIRONMENT);
  return requester;
}

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

  /** @throws ApiError like `requestedClient()` */
  async list(
    requester: RequestingOrganization,
    requested?: PlatformEnvironment,
  ): Promise<MerchantResponse[]> {
    const { environment } = await requestedClient(this.clients, requester, requested);
    return this.repository.list({ organizationId: requester.organizationId, environment }, MAX_MERCHANTS);
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

  /** Hides a merchant or shows it again. Idempotent. */
  @Transactional()
  async setHidden(
    actor: DashboardActor,
    id: string,
    environment: PlatformEnvironment,
    hidden: boolean,
  ): Promise<MerchantResponse> {
    const client = await this.clients.forEnvironment(actor, environment);
    const viewer = { organizationId: actor.organizationId, environment: client.environment };
    const merchant = await this.catalog.require(id);
    const hasChanged = hidden
      ? await this.repository.hide(viewer, merchant.id, this.clock.now())
      : await this.repository.activate(viewer, merchant.id);
    if (hasChanged) {
      const target = { name: merchant.name, environment };
      await this.auditLog.record({ action: hidden ? 'merchant.hide' : 'merchant.activate', actor, target });
    }
    return { ...merchant, hidden };
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
}
