import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { DeleteAfter } from '../../../infrastructure/database/index.js';
import { DAY } from '../../../infrastructure/time/index.js';

/** A code that a user types on the authorization page instead of logging in. Deleted when it is used. */
@Entity({ name: 'agent_connection_code' })
@Index('agent_connection_code_user_index', ['clientId', 'externalUserId'])
export class AgentConnectionCode {
  /** A keyed HMAC, because a plain hash of such a short code could be reversed. */
  @PrimaryColumn({
    name: 'code_digest',
    type: 'bytea',
    primaryKeyConstraintName: 'agent_connection_code_pkey',
  })
  codeDigest!: Buffer;

  @ForeignKey('api_client', { name: 'agent_connection_code_client_fkey' })
  @Column({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  @Column({ name: 'external_user_id', type: 'varchar', length: 256 })
  externalUserId!: string;

  @Column({ name: 'phone_number_sealed', type: 'bytea', nullable: true })
  phoneNumberSealed!: Buffer | null;

  @Index('agent_connection_code_expires_at_index')
  @DeleteAfter(DAY)
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;
}
