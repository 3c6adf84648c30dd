import { Entity, PrimaryGeneratedColumn, Column, IsNull } from 'typeorm';
import { DeleteAfter, DueSince } from '../../../infrastructure/database/index.js';
import { DAY } from '../../../infrastructure/time/index.js';

/** A request to send events to an endpoint again: all that it has not received since a time, or selected ones. */
@Entity({ name: 'webhook_recovery' })
export class Resend {
  @PrimaryGeneratedColumn('uuid', {})
  id!: string;

  @Column({ name: 'endpoint_id', type: 'uuid' })
  endpointId!: string;

  /** Shared by the resends that a user started together, one per endpoint; null for all events since the time. */
  @Column({ name: 'resend_id', type: 'uuid', nullable: true })
  batchId!: string | null;

  @Column({ type: 'timestamptz', precision: 3 })
  since!: Date;

  @DueSince<Resend>('resends', { finishedAt: IsNull() })
  @Column({ name: 'requested_at', type: 'timestamptz', precision: 3 })
  requestedAt!: Date;

  @DeleteAfter(90 * DAY)
  @Column({ name: 'finished_at', type: 'timestamptz', precision: 3, nullable: true })
  finishedAt!: Date | null;

  /**
   * The selected events, to count later what became of them; null if none were selected, and if version 0.3.0 handled the last of
   * them.
   */
  @Column({ name: 'event_ids', type: 'uuid', array: true, nullable: true })
  eventIds!: string[] | null;

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

  /** How far the missed events have been read, if none were selected; null at the beginning. */
  @Column({ type: 'jsonb', nullable: true })
  position!: ReadPosition | null;

  /** When another process may continue, if the one that sends a page has ended meanwhile; in the past between two pages. */
  @Column({ name: 'lease_until', type: 'timestamptz', default: '-infinity' })
  leaseUntil!: Date;
}

/** The last event or attempt that was read: first of the events that were not published to the endpoint, then of its attempts in the log. */
export interface ReadPosition {
  readonly of: 'events' | 'attempts';
  readonly createdAt: string;
  readonly id: string;
  /** The last attempt before the resend. */
  readonly until: string;
}
