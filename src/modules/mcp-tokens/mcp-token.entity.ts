import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { DeleteAfter } from '../../infrastructure/database/index.js';
import { DAY } from '../../infrastructure/time/index.js';

/** A token that connects an agent for one user until `expiresAt`. Only the hash of the token is stored. */
@Entity({ name: 'mcp_token' })
@Unique('mcp_token_hash_key', ['tokenHash'])
export class McpToken {
  @PrimaryColumn({
    type: 'bigint',
    generated: 'identity',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'mcp_token_pkey',
  })
  id!: string;

  /** SHA-256. */
  @Column({ name: 'token_hash', type: 'bytea' })
  tokenHash!: Buffer;

  @ForeignKey('api_client', { name: 'mcp_token_client_fkey' })
  @Column({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  @Column({ type: 'varchar', length: 11 })
  environment!: PlatformEnvironment;

  @Column({ name: 'external_user_id', type: 'varchar', length: 256 })
  externalUserId!: string;

  /** E.164, encrypted. */
  @Column({ name: 'phone_number_sealed', type: 'bytea', nullable: true })
  phoneNumberSealed!: Buffer | null;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  /** An expired token is kept for another week, so that operators can answer questions about it. */
  @Index('mcp_token_expires_at_index')
  @DeleteAfter(7 * DAY)
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;

  @Column({ name: 'revoked_at', type: 'timestamptz', precision: 3, nullable: true })
  revokedAt!: Date | null;
}
