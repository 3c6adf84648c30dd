import { Column, Entity, PrimaryColumn } from 'typeorm';
import { DeleteAfter } from '../../infrastructure/database/index.js';
import { DAY } from '../../infrastructure/time/index.js';

/** A user of an API client. */
@Entity({ name: 'customer' })
export class Customer {
  @PrimaryColumn({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  @PrimaryColumn({ name: 'external_user_id', type: 'varchar', length: 256 })
  externalUserId!: string;

  /** When the request log last named the user. */
  @DeleteAfter(365 * DAY)
  @Column({ name: 'last_seen_at', type: 'timestamptz', precision: 3 })
  lastSeenAt!: Date;
}
