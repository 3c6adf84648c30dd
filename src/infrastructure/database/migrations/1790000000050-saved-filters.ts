import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Filters that dashboard users saved for the lists of the dashboard. */
export class SavedFilters1790000000050 implements MigrationInterface {
  readonly name = 'SavedFilters1790000000050';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE saved_filter (
        id uuid NOT NULL,
        user_id uuid NOT NULL,
        client_id uuid,
        list varchar(100) NOT NULL,
        name varchar(64) NOT NULL,
        filters jsonb NOT NULL,
        CONSTRAINT saved_filter_pkey PRIMARY KEY (id),
        CONSTRAINT saved_filter_name_key UNIQUE (user_id, list, name),
        CONSTRAINT saved_filter_user_fkey FOREIGN KEY (user_id) REFERENCES dashboard_user (id) ON DELETE CASCADE,
        CONSTRAINT saved_filter_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id) ON DELETE CASCADE
      );
      CREATE INDEX saved_filter_client_index ON saved_filter (client_id);
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query('DROP TABLE saved_filter');
  }
}
