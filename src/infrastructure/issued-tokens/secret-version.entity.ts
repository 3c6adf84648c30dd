import { Column } from 'typeorm';
import { DatedRow } from '../database/index.js';

/** A version of a secret or key. A rotation adds one; during its overlap, the previous version is still accepted. */
export abstract class SecretVersion extends DatedRow {
  @Column({ type: 'integer' })
  version!: number;

  /**
   * Time from which this version signs webhooks, or its signature is the first one, until a later version does. An activation sets
   * it to the creation time.
   */
  @Column({ name: 'signs_from', type: 'timestamptz', precision: 3 })
  signsFrom!: Date;

  /** Time from which this version is neither accepted nor signs; null until it is replaced. */
  @Column({ name: 'accepted_until', type: 'timestamptz', precision: 3, nullable: true })
  acceptedUntil!: Date | null;
}
