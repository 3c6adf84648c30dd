import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import { ServiceConfiguration } from '../../../infrastructure/config/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import { NOT_FOUND } from '../../../infrastructure/errors/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { AuditLog } from '../../audit-logs/index.js';
import {
  DeviceAuthorizationsRepository,
  type DeviceAccess,
  type Visibility,
} from '../authorizations/device-authorizations.repository.js';
import { TOKEN_LIFETIME } from './key-schedule.js';
import { RevokedAccessTokensRepository } from './revoked-access-tokens.repository.js';

/** Maximum number of devices in a list. Access ends after 15 minutes, so there are few. */
const MAX_DEVICES = 50;

/** The access of the devices that a user approved. */
@Injectable()
export class DeviceAccessService {
  constructor(
    private readonly authorizations: DeviceAuthorizationsRepository,
    private readonly revokedTokens: RevokedAccessTokensRepository,
    private readonly configuration: ServiceConfiguration,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** Returns the user's devices that have access, newest first. */
  async list(actor: DashboardActor): Promise<DeviceAccess[]> {
    return this.authorizations.withAccess(actor, this.visibleTo(actor), this.clock.now(), MAX_DEVICES);
  }

  /**
   * Ends the access of a device that the user approved, even if the device fetches its token at the same time: the token
   * has the ID of the device authorization.
   *
   * @throws ApiError NOT_FOUND
   */
  @Transactional()
  async end(actor: DashboardActor, id: string): Promise<void> {
    const device = isUUID(id) ? await this.authorizations.find(id, this.visibleTo(actor)) : null;
    if (!device || device.userId !== actor.userId) throw NOT_FOUND.error();
    await this.authorizations.withdraw(device.id);
    const expiresAt = new Date((device.redeemedAt ?? device.expiresAt).getTime() + TOKEN_LIFETIME);
    await this.revokedTokens.add({ jti: device.id, expiresAt });
    const target = { name: device.clientId, environment: device.environment };
    await this.auditLog.record({ action: 'auth.device_revoke', actor, target });
  }

  private visibleTo({ organizationId }: DashboardActor): Visibility {
    const environment = this.configuration.pinnedEnvironment;
    return { organizationId, environment };
  }
}
