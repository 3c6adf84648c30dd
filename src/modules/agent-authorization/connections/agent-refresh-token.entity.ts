import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import type { AgentScope } from '../../../infrastructure/auth/index.js';

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
