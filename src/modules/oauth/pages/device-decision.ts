import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../../infrastructure/auth/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { AuditLog } from '../../audit-logs/index.js';
import {
  DeviceAuthorizationsRepository,
  type Decision,
  type Visibility,
} from '../authorizations/device-authorizations.repository.js';

const ACTIONS = { approved: 'auth.device_approve', denied: 'auth.device_deny' } as const;

/** The decision about a device: made once, by whoever comes first, and audited with it. */
@Injectable()
export class DeviceDecision {
  constructor(
    private readonly authorizations: DeviceAuthorizationsRepository,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** Does nothing where somebody else has decided, or the time is over. */
  @Transactional()
  async make(id: string, by: DashboardActor, visible: Visibility, status: Decision): Promise<void> {
    const decision = { status, userId: by.userId };
    const decided = await this.authorizations.decide(id, visible, decision, this.clock.now());
    if (!decided) return;
    const { clientId, environment } = decided;
    await this.auditLog.record({ action: ACTIONS[status], by, target: { name: clientId, environment } });
  }
}
