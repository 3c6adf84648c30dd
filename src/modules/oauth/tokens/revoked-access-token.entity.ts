import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A revoked access token, kept until it would have expired. */
@Entity({ name: 'revoked_access_token' })
export class RevokedAccessToken {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'revoked_access_token_pkey' })
  jti!: string;

  @Index('revoked_access_token_expires_at_index')
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;
}
