import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import type { AgentScope } from '../../../infrastructure/auth/index.js';
import { DeleteAfter } from '../../../infrastructure/database/index.js';
import { DAY } from '../../../infrastructure/time/index.js';

/** An agent that a user has connected. It may get tokens until it ends or expires. */
@Entity({ name: 'agent_connection' })
@Index('agent_connection_user_index', ['clientId', 'externalUserId'])
@Index('agent_connection_client_index', ['clientId', 'createdAt', 'id'], { where: 'ended_at IS NULL' })
@Index('agent_connection_host_index', ['clientId', 'agentHost', 'createdAt', 'id'], {
  where: 'ended_at IS NULL',
})
export class AgentConnection {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'agent_connection_pkey' })
  id!: string;

  @ForeignKey('api_client', { name: 'agent_connection_client_fkey' })
  @Column({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  @Column({ name: 'external_user_id', type: 'varchar', length: 256 })
  externalUserId!: string;

  @Column({ name: 'phone_number_sealed', type: 'bytea', nullable: true })
  phoneNumberSealed!: Buffer | null;

  /** The `client_id` of the agent: a URL or a UUID. */
  @Column({ name: 'agent_id', type: 'text' })
  agentId!: string;

  @Column({ name: 'agent_name', type: 'varchar', length: 200 })
  agentName!: string;

  /** The host that the user was returned to. */
  @Column({ name: 'agent_host', type: 'text' })
  agentHost!: string;

  @Column({ type: 'text', array: true })
  scopes!: AgentScope[];

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  /** When the agent last got tokens. */
  @Column({ name: 'used_at', type: 'timestamptz', precision: 3 })
  usedAt!: Date;

  @Index('agent_connection_expires_at_index')
  @DeleteAfter(7 * DAY)
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;

  @Column({ name: 'ended_at', type: 'timestamptz', precision: 3, nullable: true })
  endedAt!: Date | null;
}

/** A refresh token, and the access token that was issued with it. Only hashes are stored. Deleted with its connection. */
@Entity({ name: 'agent_refresh_token' })
@Unique('agent_refresh_token_access_token_hash_key', ['accessTokenHash'])
export class AgentRefreshToken {
  /** SHA-256. */
  @PrimaryColumn({
    name: 'token_hash',
    type: 'bytea',
    primaryKeyConstraintName: 'agent_refresh_token_pkey',
  })
  tokenHash!: Buffer;

  @ForeignKey('agent_connection', { name: 'agent_refresh_token_connection_fkey', onDelete: 'CASCADE' })
  @Index('agent_refresh_token_connection_index')
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
