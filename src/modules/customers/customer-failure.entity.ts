import { Column, Entity, PrimaryColumn } from 'typeorm';
import { DeleteAfter } from '../../infrastructure/database/index.js';
import { DAY } from '../../infrastructure/time/index.js';

/** The failed entries of a user on a day. */
@Entity({ name: 'customer_failure' })
export class CustomerFailure {
  @PrimaryColumn({ name: 'client_id', type: 'uuid' })
  clientId!: string;

  @PrimaryColumn({ name: 'external_user_id', type: 'varchar', length: 256 })
  externalUserId!: string;

  /** The start of the day in UTC. */
  @DeleteAfter(8 * DAY)
  @PrimaryColumn({ type: 'timestamptz', precision: 3 })
  day!: Date;

  @Column({ type: 'integer' })
  failures!: number;
}
