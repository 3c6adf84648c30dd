import { Column, Entity } from 'typeorm';
import { DatedRow, DeleteAfter } from '../../infrastructure/database/index.js';
import { DAY } from '../../infrastructure/time/index.js';
import { MAX_EXTERNAL_USER_ID_LENGTH } from '../../infrastructure/validation/index.js';
import type { SessionMetadata, SessionType } from '../../infrastructure/event-catalog/index.js';

/** A session of one user in the client SDK, valid until `expiresAt`. Knowing the ID is enough to open it. */
@Entity({ name: 'session' })
export class Session extends DatedRow {
  @Column({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  @Column({ type: 'varchar', length: 16 })
  type!: SessionType;

  @Column({ name: 'external_user_id', type: 'varchar', length: MAX_EXTERNAL_USER_ID_LENGTH })
  externalUserId!: string;

  @Column({ name: 'card_id', type: 'varchar', length: 256, nullable: true })
  cardId!: string | null;

  /** Encrypted. */
  @Column({ name: 'email_sealed', type: 'bytea', nullable: true })
  emailSealed!: Buffer | null;

  /** E.164, encrypted. */
  @Column({ name: 'phone_number_sealed', type: 'bytea', nullable: true })
  phoneNumberSealed!: Buffer | null;

  /** Merged from the metadata that the backend and the SDK attached. */
  @Column({ type: 'jsonb', default: () => "'{}'" })
  metadata!: SessionMetadata;

  /** An expired session is kept for another 30 days: later webhooks about its user's cards still carry its metadata. */
  @DeleteAfter(30 * DAY)
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;
}
