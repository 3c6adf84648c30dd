import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

/** `json`: the format of docs/audit-streams.md. `otlp`: logs of OpenTelemetry, as JSON. */
export const STREAM_FORMATS = ['json', 'otlp'] as const;
export type StreamFormat = (typeof STREAM_FORMATS)[number];

/** `failing`: at the receiver. `failing_here`: for reasons that may be on the side of this service. */
export const STREAM_STATES = ['working', 'failing', 'failing_here', 'paused'] as const;
export type StreamState = (typeof STREAM_STATES)[number];

/** Characters of a URL or a header. */
export const MAX_LENGTH = 2_048;

/** Where the audit log of an organization is sent, and how far. */
@Entity({ name: 'audit_stream' })
export class AuditStream {
  @ForeignKey('organization', { name: 'audit_stream_organization_fkey' })
  @PrimaryColumn({ name: 'organization_id', type: 'uuid', primaryKeyConstraintName: 'audit_stream_pkey' })
  organizationId!: string;

  @Column({ type: 'text' })
  url!: string;

  @Column({ type: 'text' })
  format!: StreamFormat;

  @Column({ name: 'authorization_sealed', type: 'bytea', nullable: true })
  authorizationSealed!: Buffer | null;

  /** The sequence of the last entry that the receiver has confirmed. */
  @Column({ type: 'bigint' })
  position!: string;

  /** The hash of that entry. */
  @Column({ name: 'position_hash', type: 'bytea' })
  positionHash!: Buffer;

  /** When the next batch is due. While a batch is sent, when another process may take over. */
  @Column({ name: 'due_at', type: 'timestamptz', precision: 3 })
  dueAt!: Date;

  /** The time since which every attempt has failed, no matter on which side. */
  @Column({ name: 'failing_since', type: 'timestamptz', precision: 3, nullable: true })
  failingSince!: Date | null;

  /** The time since which the attempts have failed for reasons that may be on this side; null if the last failure was the receiver's. */
  @Column({ name: 'failing_here_since', type: 'timestamptz', precision: 3, nullable: true })
  failingHereSince!: Date | null;

  /** Milliseconds that the service has waited after failures of the receiver. Time without attempts does not count. */
  @Column({ name: 'failed_ms', type: 'bigint', default: 0 })
  failedMs!: string;

  /** When the receiver last confirmed entries, or the stream began or was resumed. */
  @Column({ name: 'advanced_at', type: 'timestamptz', precision: 3, nullable: true })
  advancedAt!: Date | null;

  /** Why the last attempt failed, in a sentence. */
  @Column({ type: 'text', nullable: true })
  problem!: string | null;

  /** When the administrators were last sent an email about these failures. */
  @Column({ name: 'notified_at', type: 'timestamptz', precision: 3, nullable: true })
  notifiedAt!: Date | null;

  /** Nothing is sent until an owner saves the stream again. */
  @Column({ name: 'paused_at', type: 'timestamptz', precision: 3, nullable: true })
  pausedAt!: Date | null;

  /** How many entries are sent at once, after the receiver refused more. Null if it did not. */
  @Column({ name: 'batch_entries', type: 'integer', nullable: true })
  batchEntries!: number | null;

  /** The sequence of the entry that the receiver refused at the last attempt, which sent it alone; otherwise null. */
  @Column({ name: 'refused_sequence', type: 'bigint', nullable: true })
  refusedSequence!: string | null;

  /** How many entries owners have skipped, because the receiver refused them. */
  @Column({ name: 'skipped_entries', type: 'bigint', default: 0 })
  skippedEntries!: string;

  /** How many entries the receiver did not store, although its status was a success, since the stream was saved. */
  @Column({ name: 'rejected_entries', type: 'bigint', default: 0 })
  rejectedEntries!: string;

  /** The last message of the receiver about the failure, in a sentence. */
  @Column({ type: 'text', nullable: true })
  rejection!: string | null;
}

/** Returns the values of a stream whose last attempt has succeeded. */
export function workingSince(now: Date) {
  return {
    dueAt: now,
    advancedAt: now,
    failingSince: null,
    failingHereSince: null,
    failedMs: '0',
    problem: null,
    refusedSequence: null,
    notifiedAt: null,
    pausedAt: null,
  };
}

/** Returns the values of a stream that begins again. */
export function restartedAt(now: Date) {
  return { ...workingSince(now), batchEntries: null, rejectedEntries: '0', rejection: null };
}

/** Returns how the stream fares, judging by its last attempts. */
export function stateOf({ pausedAt, failingHereSince, failingSince }: AuditStream): StreamState {
  if (pausedAt) return 'paused';
  if (failingHereSince) return 'failing_here';
  return failingSince ? 'failing' : 'working';
}
