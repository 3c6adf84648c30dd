import { Column, Entity, IsNull } from 'typeorm';
import { DeleteAfter, DueSince, StoredRow } from '../../infrastructure/database/index.js';
import { DAY } from '../../infrastructure/time/index.js';

/** The last erasure of a user, and its progress. Names the user only by a keyed hash, apart from what the job needs to run. */
@Entity({ name: 'user_erasure' })
export class UserErasure extends StoredRow {
  @Column({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  /** Replaces the identifier where a row has to stay. */
  @Column({ type: 'varchar', length: 64 })
  pseudonym!: string;

  /** The identifier, encrypted; null as soon as the erasure is finished. */
  @Column({ name: 'external_user_id_sealed', type: 'bytea', nullable: true })
  externalUserIdSealed!: Buffer | null;

  @DueSince<UserErasure>('erasures', { finishedAt: IsNull() })
  @Column({ name: 'requested_at', type: 'timestamptz', precision: 3 })
  requestedAt!: Date;

  /** When a process may continue. A process that works on the erasure moves the time ahead with each batch. */
  @Column({ name: 'due_at', type: 'timestamptz', precision: 3 })
  dueAt!: Date;

  /** When a process last worked on the erasure: clients take turns. */
  @Column({ name: 'claimed_at', type: 'timestamptz', precision: 3, nullable: true })
  claimedAt!: Date | null;

  /** The columns (`table.column`) whose statistics were renewed since the last row was erased. */
  @Column({ name: 'renewed_columns', type: 'text', array: true, default: [] })
  renewedColumns!: readonly string[];

  /** How many rows were erased or changed so far. */
  @Column({ type: 'bigint', default: 0 })
  erased!: string;

  /** A finished erasure is kept, so that entries that were waiting to be written can still be recognized. */
  @DeleteAfter(365 * DAY)
  @Column({ name: 'finished_at', type: 'timestamptz', precision: 3, nullable: true })
  finishedAt!: Date | null;
}
