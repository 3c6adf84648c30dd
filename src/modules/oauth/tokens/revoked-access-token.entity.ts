import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { DeleteAfter } from '../../../infrastructure/database/index.js';
import { DAY } from '../../../infrastructure/time/index.js';

/** An access token that was revoked before its time; remembered until it would have ended anyway. */
@Entity({ name: 'revoked_access_token' })
export class RevokedAccessToken {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'revoked_access_token_pkey' })
  jti!: string;

  /** Kept for a day longer than that, which is more than any two clocks differ. */
  @Index('revoked_access_token_expires_at_index')
  @DeleteAfter(DAY)
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;
}
