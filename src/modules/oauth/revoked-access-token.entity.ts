import { Column, Entity, PrimaryColumn } from 'typeorm';
import { DeleteAfter } from '../../infrastructure/database/index.js';
import { DAY } from '../../infrastructure/time/index.js';

@Entity({ name: 'revoked_access_token' })
export class RevokedAccessToken {
  @PrimaryColumn({ type: 'uuid' })
  jti!: string;

  /** When the token expires. The row is kept for another day, which is more than any two clocks should differ. */
  @DeleteAfter(DAY)
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;
}
