import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Counts of request log entries per client and five minutes, so that the dashboard does not have to read the log. The
 * counts of a row are arrays, because separate rows would be almost as many as the entries of a client with few entries.
 */
export class RequestLogRollups1790000000016 implements MigrationInterface {
  readonly name = 'RequestLogRollups1790000000016';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE request_log_rollup (
        client_id uuid NOT NULL,
        start timestamptz(3) NOT NULL,
        type varchar(7) NOT NULL,
        -- Entries by target (operation or webhook endpoint), event and status, in arrays of the same length.
        targets text[] NOT NULL,
        events text[] NOT NULL,
        statuses smallint[] NOT NULL,
        counts integer[] NOT NULL,
        -- Entries by latency, in arrays of the same length.
        latency_buckets smallint[] NOT NULL,
        latency_counts integer[] NOT NULL,
        CONSTRAINT request_log_rollup_pkey PRIMARY KEY (client_id, start, type)
      );
      -- For replacing the rows of five minutes, and for dropping old ones.
      CREATE INDEX request_log_rollup_start_index ON request_log_rollup (start);

      -- The same for whole hours, for overviews of several days.
      CREATE TABLE request_log_hourly_rollup (
        LIKE request_log_rollup,
        CONSTRAINT request_log_hourly_rollup_pkey PRIMARY KEY (client_id, start, type)
      );
      CREATE INDEX request_log_hourly_rollup_start_index ON request_log_hourly_rollup (start);

      -- One row. The entries from "since" to "until" are in request_log_rollup, and those of the whole hours in between in
      -- request_log_hourly_rollup, except for entries that were committed late and have an ID above seen_id.
      CREATE TABLE request_log_rollup_progress (
        id boolean NOT NULL DEFAULT true,
        since timestamptz(3) NOT NULL,
        until timestamptz(3) NOT NULL,
        seen_id bigint NOT NULL,
        CONSTRAINT request_log_rollup_progress_pkey PRIMARY KEY (id),
        CONSTRAINT request_log_rollup_progress_one_row_check CHECK (id)
      );
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(
      'DROP TABLE request_log_rollup, request_log_hourly_rollup, request_log_rollup_progress',
    );
  }
}
