import { Column, Entity, PrimaryColumn } from 'typeorm';
import { DeleteAfter } from '../../infrastructure/database/index.js';
import { HOUR } from '../../infrastructure/time/index.js';

/** A token of another issuer that was exchanged. A token with an ID is accepted once. */
@Entity({ name: 'used_assertion' })
export class UsedAssertion {
  /** SHA-256 of the issuer and the ID of the token. */
  @PrimaryColumn({ type: 'bytea' })
  digest!: Buffer;

  /** When the token expires. The row is kept longer than any two clocks should differ. */
  @DeleteAfter(HOUR)
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;
}
