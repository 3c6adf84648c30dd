import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import { INSUFFICIENT_ROLE } from '../../infrastructure/errors/index.js';
import { AuditLog, type AuditAction } from '../audit-logs/index.js';

/** The actor's role does not allow this change to this user. A guard cannot know this before the user is read. */
export class RoleChangeDenied extends Error {
  /** @param target the user's email */
  constructor(
    sentence: string,
    readonly target: string,
  ) {
    super(sentence);
  }
}

/** Records attempts that the actor's role does not allow. */
@Injectable()
export class RoleDenials {
  constructor(private readonly auditLog: AuditLog) {}

  /**
   * Runs the work, which opens a transaction. Records a denial after that transaction was rolled back, because the
   * rollback would otherwise discard the entry.
   *
   * @throws ApiError INSUFFICIENT_ROLE
   */
  async runRecordingDenial<T>(
    action: AuditAction,
    actor: DashboardActor,
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RoleChangeDenied)) throw error;
      await this.auditLog.record({ action, actor, target: { name: error.target }, outcome: 'denied' });
      throw INSUFFICIENT_ROLE.error(error.message);
    }
  }
}
