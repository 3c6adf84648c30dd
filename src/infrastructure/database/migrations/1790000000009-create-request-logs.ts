import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * API requests and delivery attempts in one table, partitioned by day. The primary key is also the index for paging. An
 * index that begins with the time could lead the planner to scan the entries of all clients. There is no foreign key,
 * because entries are inserted in bulk and must not wait for a lock on their client.
 */
export class CreateRequestLogs1790000000009 implements MigrationInterface {
  readonly name = 'CreateRequestLogs1790000000009';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE SEQUENCE request_log_id_seq AS bigint;
      CREATE TABLE request_log (
        id bigint NOT NULL DEFAULT nextval('request_log_id_seq'),
        client_id uuid NOT NULL,
        environment varchar(11) NOT NULL,
        created_at timestamptz(3) NOT NULL,
        type varchar(7) NOT NULL,
        method text NOT NULL,
        path text,
        url text,
        event text,
        status_code smallint NOT NULL,
        latency_ms integer NOT NULL,
        session_id uuid,
        task_id bigint,
        external_user_id varchar(256),
        CONSTRAINT request_log_pkey PRIMARY KEY (client_id, environment, created_at, id),
        CONSTRAINT request_log_type_check CHECK (type IN ('request', 'webhook'))
      ) PARTITION BY RANGE (created_at);
      CREATE TABLE request_log_default PARTITION OF request_log DEFAULT;
      CREATE INDEX request_log_session_index ON request_log (client_id, environment, session_id, created_at, id)
        WHERE session_id IS NOT NULL;
      CREATE INDEX request_log_user_index ON request_log (client_id, environment, external_user_id, created_at, id)
        WHERE external_user_id IS NOT NULL;
      CREATE INDEX request_log_failure_index ON request_log (client_id, environment, created_at, id)
        WHERE status_code >= 400;
      ALTER SEQUENCE request_log_id_seq OWNED BY request_log.id;
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`DROP TABLE request_log;`);
  }
}
