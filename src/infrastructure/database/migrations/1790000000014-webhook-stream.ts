import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The stream of webhooks: events have a position, and processes share which clients listen. Events of the previous release
 * get a position too, because it is a default. Events that already exist have none and are not streamed.
 */
export class WebhookStream1790000000014 implements MigrationInterface {
  readonly name = 'WebhookStream1790000000014';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE SEQUENCE webhook_event_position_seq;
      -- Roles that publish need the sequence from the moment of the commit, before the privileges are granted again.
      DO $$
        DECLARE
          publisher regrole;
        BEGIN
          FOR publisher IN
            SELECT grantee::regrole FROM pg_class, aclexplode(relacl)
             WHERE oid = 'webhook_event'::regclass AND privilege_type = 'INSERT' AND grantee <> 0
          LOOP
            EXECUTE format('GRANT USAGE ON SEQUENCE webhook_event_position_seq TO %s', publisher);
          END LOOP;
        END
      $$;
      -- In two steps: a new column with such a default would rewrite the table.
      ALTER TABLE webhook_event ADD COLUMN position bigint;
      ALTER TABLE webhook_event ALTER COLUMN position SET DEFAULT nextval('webhook_event_position_seq');
      ALTER SEQUENCE webhook_event_position_seq OWNED BY webhook_event.position;

      CREATE TABLE webhook_listener (
        id uuid NOT NULL,
        client_id uuid NOT NULL,
        process integer NOT NULL,
        CONSTRAINT webhook_listener_pkey PRIMARY KEY (id),
        CONSTRAINT webhook_listener_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id) ON DELETE CASCADE
      );
      CREATE INDEX webhook_listener_client_index ON webhook_listener (client_id);
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      DROP TABLE webhook_listener;
      ALTER TABLE webhook_event DROP COLUMN position;
    `);
  }
}
