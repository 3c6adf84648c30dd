import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Numbers of the tasks that sessions perform, as shown in webhooks and request logs. */
export class CreateTaskIds1790000000022 implements MigrationInterface {
  readonly name = 'CreateTaskIds1790000000022';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`CREATE SEQUENCE task_id_seq AS bigint;`);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`DROP SEQUENCE task_id_seq;`);
  }
}
