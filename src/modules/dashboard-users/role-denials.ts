import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import { INSUFFICIENT_ROLE } from '../../infrastructure/errors/index.js';
import { AuditLog, type AuditAction } from '../audit-logs/index.js';

/** The caller's role does not allow this to be done to this person, which no guard can know beforehand. */
export class RoleChangeDenied extends Error {
  /** @param target the person's e-mail address */
  constructor(
    sentence: string,
    readonly target: string,
  ) {
    super(sentence);
  }
}

/** Keeps that somebody tried what their role does not allow. */
@Injectable()
export class RoleDenials {
  constructor(private readonly auditLog: AuditLog) {}

  /**
   * Does the work, which is a transaction. What it refuses is recorded when it has been rolled back: the entry
   * needs a lock and a connection of its own.
   *
   * @throws ApiError INSUFFICIENT_ROLE
   */
  async recorded<T>(action: AuditAction, by: DashboardActor, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RoleChangeDenied)) throw error;
      await this.auditLog.record({ action, by, target: { name: error.target }, outcome: 'denied' });
      throw INSUFFICIENT_ROLE.error(error.message);
    }
  }
}
