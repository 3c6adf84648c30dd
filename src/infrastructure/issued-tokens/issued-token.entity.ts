import { Column } from 'typeorm';
import { DatedRow } from '../database/index.js';

export const MAX_TOKEN_NAME_LENGTH = 100;

/** A credential of a program, with a name and scopes. Only the digest of the credential is stored. */
export abstract class IssuedToken<Scope extends string = string> extends DatedRow {
  @Column({ type: 'varchar', length: MAX_TOKEN_NAME_LENGTH })
  name!: string;

  @Column({ type: 'text', array: true })
  scopes!: Scope[];

  @Column({ type: 'bytea' })
  digest!: Buffer;

  /** Accurate to about a minute; null if the token has not been used. */
  @Column({ name: 'last_used_at', type: 'timestamptz', precision: 3, nullable: true })
  lastUsedAt!: Date | null;

  /** Null if the token does not expire. A rotation sets it. */
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3, nullable: true })
  expiresAt!: Date | null;

  @Column({ name: 'revoked_at', type: 'timestamptz', precision: 3, nullable: true })
  revokedAt!: Date | null;
}

/** Returns whether a credential that ends at this time, or never, has not ended. */
export function isBefore(now: Date, end: Date | null): boolean {
  return end === null || now < end;
}
