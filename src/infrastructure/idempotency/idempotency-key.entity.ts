import { Column, Entity, PrimaryColumn } from 'typeorm';
import { DeleteAfter } from '../database/index.js';
import { DAY } from '../time/index.js';

/** How long the response to a request with an `Idempotency-Key` is kept. */
export const KEPT_FOR = DAY;

/** A request with an `Idempotency-Key` that succeeded. Nothing in the row reveals the key, the request or the response. */
@Entity({ name: 'idempotency_key' })
export class IdempotencyKey {
  /** Digest of the operation, the client and the key. */
  @PrimaryColumn({ name: 'key_hash', type: 'bytea' })
  keyHash!: Buffer;

  @Column({ name: 'request_hash', type: 'bytea' })
  requestHash!: Buffer;

  /** Encrypted, because it can contain a token. */
  @Column({ name: 'response_sealed', type: 'bytea' })
  responseSealed!: Buffer;

  /** Digest of the API client and the external user whom the request names. */
  @Column({ name: 'user_hash', type: 'bytea', nullable: true })
  userHash!: Buffer | null;

  /** SHA-256 of the token in the response. */
  @Column({ name: 'token_hash', type: 'bytea', nullable: true })
  tokenHash!: Buffer | null;

  @DeleteAfter(KEPT_FOR)
  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
}
