import { Injectable } from '@nestjs/common';
import { Transactional } from '../../infrastructure/database/index.js';
import type { AuditAction } from './audit-actions.js';
import { AuditLog, type AuditRecord } from './audit-log.js';

/**
 * The chain of changes that belong to no organization, in the place of an organization's ID. Customers cannot read it; the
 * commands `audit verify`, `audit head` and `audit export` can.
 */
export const PLATFORM = '00000000-0000-0000-0000-000000000000';

/** A change that an operator made to an organization, or to the platform. */
export interface OperatorChange {
  readonly organizationId: string;
  readonly action: AuditAction;
  readonly target: NonNullable<AuditRecord['target']>;
}

/**
 * Operators work on the server. They are not dashboard users, so their entries contain no personal name, email or IP
 * address.
 */
export const OPERATOR = {
  name: 'operator',
  email: 'operator',
  origin: { ip: '', userAgent: 'command line' },
};

/** Records what operators do with commands. */
@Injectable()
export class OperatorAudit {
  constructor(private readonly auditLog: AuditLog) {}

  /** Runs the work and records its changes in the same transaction. */
  @Transactional()
  async run<T>(work: () => Promise<T>, changesOf: (result: T) => readonly OperatorChange[]): Promise<T> {
    const result = await work();
    for (const change of changesOf(result)) await this.record(change);
    return result;
  }

  /** Records what an operator did, or is about to do. */
  async record({ organizationId, action, target }: OperatorChange): Promise<void> {
    await this.auditLog.record({ action, actor: { organizationId, ...OPERATOR }, target });
  }
}
