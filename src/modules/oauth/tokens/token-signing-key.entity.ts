import type { JWK } from 'jose';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { TokenAlgorithm } from '../access-token.js';

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
