import { Entity, PrimaryColumn, Column } from 'typeorm';
import { DAY } from '../time/index.js';
import { DeleteAfter } from './delete-after.js';

export const MAX_CAUSE_LENGTH = 256;

/** Why background work failed within the last day. */
@Entity({ name: 'job_failure' })
export class JobFailure {
  @PrimaryColumn({ type: 'varchar', length: 64 })
  job!: string;

  @PrimaryColumn({ type: 'varchar', length: MAX_CAUSE_LENGTH })
  cause!: string;

  @Column({ name: 'first_at', type: 'timestamptz', precision: 3 })
  firstAt!: Date;

  @DeleteAfter(DAY)
  @Column({ name: 'last_at', type: 'timestamptz', precision: 3 })
  lastAt!: Date;
}
