import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * An index for each filter of operation 3, in the order of its pages. Without it, a filter that matches no entry would
 * read the primary key through the whole period. Status 200 and the two types need no index, because they are frequent.
 *
 * Ids increase with the position of the rows on disk, so a BRIN index finds an id. It is much smaller than a B-tree and
 * costs almost nothing to update.
 */
export class IndexRequestLogFilters1790000000023 implements MigrationInterface {
  readonly name = 'IndexRequestLogFilters1790000000023';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      DROP INDEX request_log_failure_index;
      CREATE INDEX request_log_status_index ON request_log (client_id, environment, status_code, created_at, id)
        WHERE status_code <> 200;
      CREATE INDEX request_log_event_index ON request_log (client_id, environment, event, created_at, id)
        WHERE event IS NOT NULL;
      CREATE INDEX request_log_task_index ON request_log (client_id, environment, task_id, created_at, id)
        WHERE task_id IS NOT NULL;
      CREATE INDEX request_log_id_index ON request_log USING brin (id) WITH (pages_per_range = 32, autosummarize = on);
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`
      DROP INDEX request_log_id_index, request_log_task_index, request_log_event_index, request_log_status_index;
      CREATE INDEX request_log_failure_index ON request_log (client_id, environment, created_at, id)
        WHERE status_code >= 400;
    `);
  }
}
