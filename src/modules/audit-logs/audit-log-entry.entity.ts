import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import type { AuditAction, AuditOutcome } from './audit-actions.js';

/**
 * An entry of the audit log: actor, action, target, context and outcome. Names are copied, because they may change later
 * and the log must not. Entries are never updated; `hash` protects this entry and all before it (`audit-chain.ts`).
 */
@Entity({ name: 'audit_log' })
@Unique('audit_log_id_key', ['id'])
@Index('audit_log_page_index', ['organizationId', 'createdAt', 'sequence'])
export class AuditLogEntry {
  @PrimaryColumn({ name: 'organization_id', type: 'uuid', primaryKeyConstraintName: 'audit_log_pkey' })
  organizationId!: string;

  /** 1, 2, 3, … within the organization. */
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'audit_log_pkey' })
  sequence!: string;

  @Column({ type: 'uuid' })
  id!: string;

  /** Never earlier than that of the previous entry. */
  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  @Column({ type: 'text' })
  action!: AuditAction;

  @Column({ type: 'text' })
  outcome!: AuditOutcome;

  @Column({ name: 'actor_name', type: 'text' })
  actorName!: string;

  @Column({ name: 'actor_email', type: 'text' })
  actorEmail!: string;

  @Column({ name: 'target_type', type: 'text' })
  targetType!: string;

  @Column({ name: 'target_name', type: 'text', nullable: true })
  targetName!: string | null;

  @Column({ name: 'target_environment', type: 'text' })
  targetEnvironment!: PlatformEnvironment;

  @Column({ name: 'context_ip', type: 'text' })
  contextIp!: string;

  @Column({ name: 'context_user_agent', type: 'text' })
  contextUserAgent!: string;

  /** SHA-256. */
  @Column({ type: 'bytea' })
  hash!: Buffer;
}
