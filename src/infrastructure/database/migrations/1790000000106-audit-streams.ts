import type { MigrationInterface, QueryRunner } from 'typeorm';
import { changeSchema } from './schema-change.js';

/** Where the audit logs of organizations are sent, and how far. */
export class AuditStreams1790000000106 implements MigrationInterface {
  readonly name = 'AuditStreams1790000000106';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    await changeSchema(
      connection,
      `CREATE TABLE IF NOT EXISTS audit_stream (
        organization_id uuid NOT NULL,
        url text NOT NULL,
        format text NOT NULL,
        authorization_sealed bytea,
        position bigint NOT NULL,
        position_hash bytea NOT NULL,
        due_at timestamptz(3) NOT NULL,
        failing_since timestamptz(3),
        problem text,
        paused_at timestamptz(3),
        failing_here_since timestamptz(3),
        failed_ms bigint NOT NULL DEFAULT 0,
        advanced_at timestamptz(3),
        notified_at timestamptz(3),
        batch_entries integer,
        rejected_entries bigint NOT NULL DEFAULT 0,
        rejection text,
        refused_sequence bigint,
        skipped_entries bigint NOT NULL DEFAULT 0,
        CONSTRAINT audit_stream_pkey PRIMARY KEY (organization_id),
        CONSTRAINT audit_stream_organization_fkey FOREIGN KEY (organization_id) REFERENCES organization (id)
      )`,
    );
  }

  down(): never {
    throw new Error('Version 0.3.0 works on this schema. To go back further, restore a backup.');
  }
}
