import { Column, Entity } from 'typeorm';
import { DatedRow } from '../../infrastructure/database/index.js';
import type { ServiceScope } from '../../infrastructure/auth/index.js';

export const MAX_NAME_LENGTH = 100;

/** A credential of one of the platform's own services. Only the digest of the token is stored. */
@Entity({ name: 'service_token' })
export class ServiceToken extends DatedRow {
  @Column({ type: 'varchar', length: MAX_NAME_LENGTH })
  name!: string;

  @Column({ type: 'text', array: true })
  scopes!: ServiceScope[];

  @Column({ type: 'bytea' })
  digest!: Buffer;

  /** Accurate to about a minute; null if the token has not been used. */
  @Column({ name: 'last_used_at', type: 'timestamptz', precision: 3, nullable: true })
  lastUsedAt!: Date | null;

  /** Null until the token is rotated. */
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3, nullable: true })
  expiresAt!: Date | null;

  @Column({ name: 'revoked_at', type: 'timestamptz', precision: 3, nullable: true })
  revokedAt!: Date | null;
}
