import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The audit log: one hash chain per organization, and the head of each chain, whose row appending locks. No role may
 * change or remove entries, not even the owner of the table. The trigger also stops superusers. They can disable the
 * trigger, but the chain then reveals the change.
 */
export class CreateAuditLogs1790000000010 implements MigrationInterface {
  readonly name = 'CreateAuditLogs1790000000010';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE audit_chain (
        organization_id uuid NOT NULL,
        sequence bigint NOT NULL,
        created_at timestamptz(3) NOT NULL,
        hash bytea NOT NULL,
        CONSTRAINT audit_chain_pkey PRIMARY KEY (organization_id),
        CONSTRAINT audit_chain_organization_fkey FOREIGN KEY (organization_id) REFERENCES organization (id)
      );
      CREATE TABLE audit_log (
        organization_id uuid NOT NULL,
        sequence bigint NOT NULL,
        id uuid NOT NULL,
        created_at timestamptz(3) NOT NULL,
        action text NOT NULL,
        outcome text NOT NULL,
        actor_name text NOT NULL,
        actor_email text NOT NULL,
        target_type text NOT NULL,
        target_name text,
        target_environment text NOT NULL,
        context_ip text NOT NULL,
        context_user_agent text NOT NULL,
        hash bytea NOT NULL,
        CONSTRAINT audit_log_pkey PRIMARY KEY (organization_id, sequence),
        CONSTRAINT audit_log_id_key UNIQUE (id)
      );
      CREATE INDEX audit_log_page_index ON audit_log (organization_id, created_at, sequence);

      CREATE FUNCTION refuse_change_of_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          RAISE EXCEPTION 'The audit log is append-only: % is refused.', TG_OP
            USING ERRCODE = 'insufficient_privilege';
        END
      $$;
      CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit_log();
      REVOKE UPDATE, DELETE, TRUNCATE ON audit_log FROM PUBLIC, CURRENT_USER;
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(
      `DROP TABLE audit_log; DROP TABLE audit_chain; DROP FUNCTION refuse_change_of_audit_log();`,
    );
  }
}
