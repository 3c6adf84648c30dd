import { Column, Entity, IsNull, Not, PrimaryColumn } from 'typeorm';
import type { AgentScope } from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { DeleteAfter, DueSince } from '../../../infrastructure/database/index.js';
import { DAY } from '../../../infrastructure/time/index.js';
import type { AuditAction } from '../../../infrastructure/audit-catalog/index.js';
import type { AuditActor } from '../../audit-logs/index.js';
import { AgentUse } from '../authorizations/agent-authorization.entity.js';

/** How a connection ended, for its event and the audit log. */
export interface ConnectionEnd {
  readonly action: AuditAction;
  readonly actor: AuditActor;
  readonly environment: PlatformEnvironment;
}

/** An agent that a user has connected. It may get tokens until it ends or expires. */
@Entity({ name: 'agent_connection' })
export class AgentConnection extends AgentUse {
  @Column({ name: 'external_user_id', type: 'varchar', length: 256 })
  externalUserId!: string;

  /** The host that the user was returned to. */
  @Column({ name: 'agent_host', type: 'text' })
  agentHost!: string;

  /** When the agent last got tokens. */
  @Column({ name: 'used_at', type: 'timestamptz', precision: 3 })
  usedAt!: Date;

  @DeleteAfter(7 * DAY, 'ended_by IS NULL')
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;

  @DueSince<AgentConnection>('agent_connection_ends', { endedBy: Not(IsNull()) })
  @Column({ name: 'ended_at', type: 'timestamptz', precision: 3, nullable: true })
  endedAt!: Date | null;

  /** How the connection ended together with others, until its event is published and its end is in the audit log. */
  @Column({ name: 'ended_by', type: 'jsonb', nullable: true })
  endedBy!: ConnectionEnd | null;
}

/** A refresh token, and the access token that was issued with it. Only hashes are stored. Deleted with its connection. */
@Entity({ name: 'agent_refresh_token' })
export class AgentRefreshToken {
  /** SHA-256. */
  @PrimaryColumn({ name: 'token_hash', type: 'bytea' })
  tokenHash!: Buffer;

  @Column({ name: 'connection_id', type: 'uuid' })
  connectionId!: string;

  /** The scopes of the access token, which may be fewer than those of the connection. */
  @Column({ type: 'text', array: true })
  scopes!: AgentScope[];

  /** SHA-256. */
  @Column({ name: 'access_token_hash', type: 'bytea' })
  accessTokenHash!: Buffer;

  /** When both tokens were created. */
  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  @Column({ name: 'access_expires_at', type: 'timestamptz', precision: 3 })
  accessExpiresAt!: Date;

  /** When the token was exchanged for the next one; null for the current token. */
  @Column({ name: 'rotated_at', type: 'timestamptz', precision: 3, nullable: true })
  rotatedAt!: Date | null;
}
