import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Job applications. They contain personal data and are deleted after their retention period. */
export class CreateJobApplications1790000000008 implements MigrationInterface {
  readonly name = 'CreateJobApplications1790000000008';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE job_application (
        id uuid NOT NULL,
        received_at timestamptz(3) NOT NULL,
        role varchar(32) NOT NULL,
        full_name varchar(256) NOT NULL,
        email varchar(254) NOT NULL,
        resume_url varchar(2083) NOT NULL,
        years_experience integer NOT NULL,
        authorized_to_work boolean NOT NULL,
        onsite_nyc boolean NOT NULL,
        phone_number varchar(16),
        github_url varchar(2083),
        linkedin_url varchar(2083),
        twitter_url varchar(2083),
        website varchar(2083),
        exceptional_at text NOT NULL,
        CONSTRAINT job_application_pkey PRIMARY KEY (id)
      );
      CREATE INDEX job_application_received_at_index ON job_application (received_at);
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`DROP TABLE job_application;`);
  }
}
