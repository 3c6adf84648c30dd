import { Column, Entity, PrimaryColumn } from 'typeorm';
import { DeleteAfter } from '../../../infrastructure/database/index.js';
import { DAY } from '../../../infrastructure/time/index.js';

/**
 * The last accepted poll of a device authorization, its current interval, and whether the latest poll was early. The
 * table is unlogged: a crash empties it.
 */
@Entity({ name: 'device_poll' })
export class DevicePollState {
  @PrimaryColumn({ name: 'authorization_id', type: 'uuid', primaryKeyConstraintName: 'device_poll_pkey' })
  authorizationId!: string;

  /** Never later than the expiry of the device authorization. A day later, no device polls for it anymore. */
  @DeleteAfter(DAY)
  @Column({ name: 'accepted_at', type: 'timestamptz', precision: 3 })
  acceptedAt!: Date;

  @Column({ name: 'interval_seconds', type: 'integer' })
  intervalSeconds!: number;

  @Column({ type: 'boolean' })
  early!: boolean;
}
