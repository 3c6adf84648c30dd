import { Entity, PrimaryColumn, Column } from 'typeorm';
import { DeleteAfter } from '../database/index.js';

/** A counter of rate-limiter-flexible, which defines the columns. */
@Entity({ name: 'attempt_count' })
export class AttemptCount {
  @PrimaryColumn({ type: 'varchar', length: 255 })
  key!: string;

  @Column({ type: 'integer' })
  points!: number;

  /** Milliseconds since the epoch. */
  @DeleteAfter(0)
  @Column({ type: 'bigint', nullable: true })
  expire!: string | null;
}
