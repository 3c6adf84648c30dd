import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Erasures of users. The identifier is encrypted, and removed when the erasure is finished. */
export class UserErasures1790000000036 implements MigrationInterface {
  readonly name = 'UserErasures1790000000036';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE user_erasure (
        id uuid NOT NULL,
        client_id uuid NOT NULL,
        pseudonym character varying(64) NOT NULL,
        external_user_id_sealed bytea,
        requested_at timestamptz(3) NOT NULL,
        due_at timestamptz(3) NOT NULL,
        erased bigint NOT NULL DEFAULT 0,
        finished_at timestamptz(3),
        CONSTRAINT user_erasure_pkey PRIMARY KEY (id),
        CONSTRAINT user_erasure_user_key UNIQUE (client_id, pseudonym),
        CONSTRAINT user_erasure_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id)
      );
      CREATE INDEX user_erasure_due_index ON user_erasure (due_at) WHERE finished_at IS NULL;
      CREATE INDEX user_erasure_finished_at_index ON user_erasure (finished_at);

      -- Copies a partition like build_columnar_partition, but into rows, which can be changed.
      DO $do$
        BEGIN
          EXECUTE replace(replace(pg_get_functiondef('build_columnar_partition(text, date)'::regprocedure),
                                  'build_columnar_partition', 'build_row_partition'), ' USING columnar', '');
        END
      $do$;
      REVOKE ALL ON FUNCTION build_row_partition FROM PUBLIC;
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query('DROP FUNCTION build_row_partition; DROP TABLE user_erasure');
  }
}
