import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

/** `json`: the format of docs/audit-streams.md. `otlp`: logs of OpenTelemetry, as JSON. */
export const STREAM_FORMATS = ['json', 'otlp'] as const;
export type StreamFormat = (typeof STREAM_FORMATS)[number];

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

  /** Since when every attempt has failed. */
  @Column({ name: 'failing_since', type: 'timestamptz', precision: 3, nullable: true })
  failingSince!: Date | null;

  /** Why the last attempt failed, in a sentence. */
  @Column({ type: 'text', nullable: true })
  problem!: string | null;

  /** Nothing is sent until an owner saves the stream again. */
  @Column({ name: 'paused_at', type: 'timestamptz', precision: 3, nullable: true })
  pausedAt!: Date | null;
}
