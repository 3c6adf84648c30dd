import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Service tokens, idempotency keys of published events, and the statuses of merchants that clients are notified of. */
export class EventApi1790000000008 implements MigrationInterface {
  readonly name = 'EventApi1790000000008';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE service_token (
        id uuid NOT NULL,
        name varchar(100) NOT NULL,
        scopes text[] NOT NULL,
        digest bytea NOT NULL,
        created_at timestamptz(3) NOT NULL,
        last_used_at timestamptz(3),
        expires_at timestamptz(3),
        revoked_at timestamptz(3),
        CONSTRAINT service_token_pkey PRIMARY KEY (id),
        CONSTRAINT service_token_digest_key UNIQUE (digest)
      );

      -- Kept as long as the events.
      CREATE TABLE webhook_event_key (
        client_id uuid NOT NULL,
        key varchar(255) NOT NULL,
        event_id uuid NOT NULL,
        content_hash bytea NOT NULL,
        created_at timestamptz(3) NOT NULL,
        CONSTRAINT webhook_event_key_pkey PRIMARY KEY (client_id, key)
      );
      CREATE INDEX webhook_event_key_created_at_index ON webhook_event_key (created_at);

      -- The last status of each type of session. While clients are being notified, finished_at is null.
      CREATE TABLE merchant_status (
        merchant_id integer NOT NULL,
        type varchar(16) NOT NULL,
        status varchar(4) NOT NULL,
        requested_at timestamptz(3) NOT NULL,
        last_client_id uuid,
        published integer NOT NULL DEFAULT 0,
        finished_at timestamptz(3),
        CONSTRAINT merchant_status_pkey PRIMARY KEY (merchant_id, type),
        CONSTRAINT merchant_status_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchant (id),
        CONSTRAINT merchant_status_status_check CHECK (status IN ('UP', 'DOWN'))
      );
      CREATE INDEX merchant_status_pending_index ON merchant_status (requested_at) WHERE finished_at IS NULL;
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query('DROP TABLE merchant_status, webhook_event_key, service_token');
  }
}
