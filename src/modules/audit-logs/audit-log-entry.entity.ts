import { ApiSchema } from '@nestjs/swagger';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { AUDIT_ACTION_NAMES, type AuditAction } from '../../infrastructure/audit-catalog/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  EnumProperty,
  ObjectProperty,
  TextProperty,
  TimestampProperty,
  UuidProperty,
} from '../../infrastructure/openapi/index.js';
import { enumeration } from '../../infrastructure/schemas/index.js';
import { ENVIRONMENT } from '../../infrastructure/validation/index.js';
import { AUDIT_OUTCOMES, type AuditOutcome } from './audit-outcome.js';

export const AUDIT_ACTION = enumeration(
  'AuditAction',
  AUDIT_ACTION_NAMES,
  'An action that the audit log records. More actions may be added.',
);
export const AUDIT_OUTCOME = enumeration('AuditOutcome', AUDIT_OUTCOMES, 'How an action ended.');

@ApiSchema({ description: 'The outcome of the action.' })
export class AuditOutcomeResponse {
  @Column({ name: 'outcome', type: 'text' })
  @EnumProperty(
    AUDIT_OUTCOME,
    '`denied`: the user is not allowed to do this, or made too many attempts: one entry stands for all such attempts ' +
      'of an hour. `failure`: the attempt did not succeed, for example because of a wrong password.',
    'success',
  )
  status!: AuditOutcome;
}

@ApiSchema({ description: 'The action and its outcome.' })
export class AuditEventResponse {
  @Column({ type: 'text' })
  @EnumProperty(AUDIT_ACTION, 'The action. More actions may be added.', 'secret.view')
  action!: AuditAction;

  @Column(() => AuditOutcomeResponse, { prefix: false })
  @ObjectProperty(AuditOutcomeResponse, 'The outcome of the action.')
  outcome!: AuditOutcomeResponse;
}

@ApiSchema({ description: 'The dashboard user, API key, API client or operator that performed the action.' })
export class AuditActorResponse {
  @Column({ name: 'actor_name', type: 'text' })
  @TextProperty(
    'Name of the user or API key at the time. `operator` for an operator of the platform.',
    'Ada Lovelace',
  )
  name!: string;

  @Column({ name: 'actor_email', type: 'text' })
  @TextProperty(
    'Email address of the user at the time. `API key` for an API key, `operator` for an operator of the platform.',
    'ada@example.com',
  )
  email!: string;
}

@ApiSchema({ description: 'The target of the action.' })
export class AuditTargetResponse {
  @Column({ name: 'target_type', type: 'text' })
  @TextProperty(
    'The kind of target. [Audit actions](/docs/audit-actions) lists them; more may be added.',
    'secret',
  )
  type!: string;

  @Column({ name: 'target_name', type: 'text', nullable: true })
  @TextProperty(
    'Name of the target at the time; its ID if the action was denied; null if it has no name.',
    null,
  )
  name!: string | null;

  @Column({ name: 'target_environment', type: 'text' })
  @EnumProperty(
    ENVIRONMENT,
    'The environment of the target. Targets that belong to the whole organization, such as users and domains, ' +
      'count as `production`.',
    'production',
  )
  environment!: PlatformEnvironment;
}

@ApiSchema({ description: 'Where the user performed the action.' })
export class AuditContextResponse {
  @Column({ name: 'context_ip', type: 'text' })
  @TextProperty('IP address of the user. Empty for an operator of the platform.', '203.0.113.7')
  ip!: string;

  @Column({ name: 'context_user_agent', type: 'text' })
  @TextProperty(
    'First 512 characters of the `User-Agent` header of the user’s browser or program.',
    'Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101 Firefox/147.0',
  )
  user_agent!: string;
}

@ApiSchema({
  description:
    'A field that the action changed. A list of more than 256 characters is in several changes of the field, part by part.',
})
export class AuditChangeResponse {
  @TextProperty('The name of the field.', 'role')
  field!: string;

  @TextProperty('The value before, at most 256 characters; null if there was none.', 'viewer', {
    nullable: true,
  })
  from!: string | null;

  @TextProperty('The value after, at most 256 characters; null if there is none.', 'member', {
    nullable: true,
  })
  to!: string | null;
}

export class AuditLogEntryResponse {
  @Column({ type: 'uuid' })
  @UuidProperty('ID of the entry.', '5b0c7a52-43c8-4c0e-9a53-0f2d4f0f6a11')
  id!: string;

  /** Never earlier than that of the previous entry. */
  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  @TimestampProperty('When the action happened.')
  datetime!: Date;

  @Column(() => AuditEventResponse, { prefix: false })
  @ObjectProperty(AuditEventResponse, 'The action and its outcome.')
  event!: AuditEventResponse;

  @Column(() => AuditActorResponse, { prefix: false })
  @ObjectProperty(
    AuditActorResponse,
    'The dashboard user, API key, API client or operator that performed the action.',
  )
  actor!: AuditActorResponse;

  @Column(() => AuditTargetResponse, { prefix: false })
  @ObjectProperty(AuditTargetResponse, 'The target of the action.')
  target!: AuditTargetResponse;

  @Column(() => AuditContextResponse, { prefix: false })
  @ObjectProperty(AuditContextResponse, 'Where the user performed the action.')
  context!: AuditContextResponse;

  @Column({ type: 'jsonb', nullable: true })
  @ObjectProperty(
    [AuditChangeResponse],
    'What the action changed, with `***` in place of anything that looks like a secret; null if it changed no field, ' +
      'or if the entry is older than this field.',
    { example: null },
  )
  changes!: AuditChangeResponse[] | null;
}

/**
 * An entry of the audit log: what the API returns, and its place in the chain of its organization. Names are copied, because
 * they may change later and the log must not. Entries are never updated; `hash` protects this entry and all before it
 * (`audit-chain.ts`).
 */
@Entity({ name: 'audit_log' })
export class AuditLogEntry extends AuditLogEntryResponse {
  @PrimaryColumn({ name: 'organization_id', type: 'uuid' })
  organizationId!: string;

  /** 1, 2, 3, … within the organization. */
  @PrimaryColumn({ type: 'bigint' })
  sequence!: string;

  /** SHA-256. */
  @Column({ type: 'bytea' })
  hash!: Buffer;
}

/** The last entry of the chain of an organization, or of the platform. Appending an entry locks this row. */
@Entity({ name: 'audit_chain' })
export class AuditChainHead {
  @PrimaryColumn({ name: 'organization_id', type: 'uuid' })
  organizationId!: string;

  @Column({ type: 'bigint' })
  sequence!: string;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  @Column({ type: 'bytea' })
  hash!: Buffer;
}
