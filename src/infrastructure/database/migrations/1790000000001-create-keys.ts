import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Wrapped data keys, and check values that detect a wrong key. */
export class CreateKeys1790000000001 implements MigrationInterface {
  readonly name = 'CreateKeys1790000000001';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE data_key (
        id smallint NOT NULL,
        wrapped bytea NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        CONSTRAINT data_key_pkey PRIMARY KEY (id)
      );
      CREATE TABLE key_check (
        name text NOT NULL,
        value bytea NOT NULL,
        CONSTRAINT key_check_pkey PRIMARY KEY (name)
      );
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`DROP TABLE key_check; DROP TABLE data_key;`);
  }
}
