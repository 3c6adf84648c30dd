import type { JWK } from 'jose';
import { Check, Column, Entity, PrimaryColumn, Unique } from 'typeorm';

/** The algorithms that access tokens are signed with (RFC 7518, section 3.1). */
export const TOKEN_ALGORITHMS = ['ES256', 'RS256'] as const;
export type TokenAlgorithm = (typeof TOKEN_ALGORITHMS)[number];

/** A key that signs access tokens from `signsFrom` until the next key takes over. */
@Entity({ name: 'token_signing_key' })
@Unique('token_signing_key_signs_from_key', ['signsFrom'])
@Check('token_signing_key_algorithm_check', `algorithm IN ('ES256', 'RS256')`)
export class TokenSigningKey {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'token_signing_key_pkey' })
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
