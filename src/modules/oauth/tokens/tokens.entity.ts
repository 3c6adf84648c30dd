import type { JWK } from 'jose';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { DeleteAfter } from '../../../infrastructure/database/index.js';
import { DAY, MINUTE } from '../../../infrastructure/time/index.js';

/** Lifetime of an access token in milliseconds (specification, "Limits"). */
export const TOKEN_LIFETIME = 15 * MINUTE;

/** The algorithms that access tokens are signed with (RFC 7518, section 3.1). */
export const TOKEN_ALGORITHMS = ['ES256', 'RS256'] as const;
export type TokenAlgorithm = (typeof TOKEN_ALGORITHMS)[number];

/** A key that signs access tokens from `signsFrom` until the next key takes over. */
@Entity({ name: 'token_signing_key' })
export class TokenSigningKey {
  @PrimaryColumn({ type: 'uuid' })
  kid!: string;

  @Column({ type: 'varchar', length: 5 })
  algorithm!: TokenAlgorithm;

  @Column({ name: 'public_jwk', type: 'jsonb' })
  publicJwk!: JWK;

  /** The private key as a JWK, sealed. */
  @Column({ name: 'private_sealed', type: 'bytea' })
  privateSealed!: Buffer;

  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  /** Later than `createdAt`, so that verifiers have fetched the key before the first token that it signed arrives. */
  @Column({ name: 'signs_from', type: 'timestamptz', precision: 3 })
  signsFrom!: Date;
}

@Entity({ name: 'revoked_access_token' })
export class RevokedAccessToken {
  @PrimaryColumn({ type: 'uuid' })
  jti!: string;

  /** When the token expires. The row is kept for another day, which is more than any two clocks should differ. */
  @DeleteAfter(DAY)
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;
}
