import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { DeleteAfter } from '../../../infrastructure/database/index.js';
import { DAY } from '../../../infrastructure/time/index.js';

/** A request to send events to an endpoint again: all that it has not received since a time, or selected ones. */
@Entity({ name: 'webhook_recovery' })
export class WebhookRecovery {
  @PrimaryGeneratedColumn('uuid', {})
  id!: string;

  @Column({ name: 'endpoint_id', type: 'uuid' })
  endpointId!: string;

  /** The ID of what a user started for several endpoints together; null for all events since the time. */
  @Column({ name: 'resend_id', type: 'uuid', nullable: true })
  resendId!: string | null;

  @Column({ type: 'timestamptz', precision: 3 })
  since!: Date;

  @Column({ name: 'requested_at', type: 'timestamptz', precision: 3 })
  requestedAt!: Date;

  @DeleteAfter(90 * DAY)
  @Column({ name: 'finished_at', type: 'timestamptz', precision: 3, nullable: true })
  finishedAt!: Date | null;

  /** The events, until all are handled; null until they are found, if none were selected. */
  @Column({ name: 'event_ids', type: 'uuid', array: true, nullable: true })
  eventIds!: string[] | null;

  /** The number of events. */
  @Column({ type: 'integer', default: 0 })
  selected!: number;

  /** How many of the events have been handled. A process that takes over continues there. */
  @Column({ type: 'integer', default: 0 })
  handled!: number;

  /** Deliveries queued so far. */
  @Column({ type: 'integer', default: 0 })
  queued!: number;

  /** Events that were not queued, because the endpoint has received them since. */
  @Column({ type: 'integer', default: 0 })
  received!: number;

  /** Selected events that were not queued, because they were being sent already. */
  @Column({ type: 'integer', default: 0 })
  sending!: number;

  /** A process that sends the events again renews its lease. */
  @Column({ name: 'lease_until', type: 'timestamptz', default: '-infinity' })
  leaseUntil!: Date;
}
