import type { MigrationInterface, QueryRunner } from 'typeorm';
import { changeSchema } from './schema-change.js';

/** The users of each API client with their last activity, for the dashboard. A job fills the tables from the request log. */
export class Customers1790000000124 implements MigrationInterface {
  readonly name = 'Customers1790000000124';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await changeSchema(connection, statement);
  }

  down(): never {
    throw new Error('Version 0.3.0 works on this schema. To go back further, restore a backup.');
  }
}

const STATEMENTS = [
  `CREATE TABLE IF NOT EXISTS customer (
    client_id uuid NOT NULL,
    external_user_id varchar(256) NOT NULL,
    last_seen_at timestamptz(3) NOT NULL,
    CONSTRAINT customer_pkey PRIMARY KEY (client_id, external_user_id),
    CONSTRAINT customer_client_fkey FOREIGN KEY (client_id) REFERENCES api_client(id)
  )`,
  'CREATE INDEX IF NOT EXISTS customer_last_seen_index ON customer (client_id, last_seen_at, external_user_id)',
  'CREATE INDEX IF NOT EXISTS customer_last_seen_at_index ON customer (last_seen_at)',

  // Apart from the last activity, which changes often: an update writes an entry into each index of its table.
  `CREATE TABLE IF NOT EXISTS customer_search (
    client_id uuid NOT NULL,
    external_user_id varchar(256) NOT NULL,
    parts int[] NOT NULL,
    CONSTRAINT customer_search_pkey PRIMARY KEY (client_id, external_user_id),
    CONSTRAINT customer_search_customer_fkey FOREIGN KEY (client_id, external_user_id) REFERENCES customer(client_id, external_user_id) ON DELETE CASCADE
  )`,
  'CREATE INDEX IF NOT EXISTS customer_search_parts_index ON customer_search USING gin (parts)',

  `CREATE TABLE IF NOT EXISTS customer_failure (
    client_id uuid NOT NULL,
    external_user_id varchar(256) NOT NULL,
    day timestamptz(3) NOT NULL,
    failures integer NOT NULL,
    CONSTRAINT customer_failure_pkey PRIMARY KEY (client_id, external_user_id, day),
    CONSTRAINT customer_failure_customer_fkey FOREIGN KEY (client_id, external_user_id) REFERENCES customer(client_id, external_user_id) ON DELETE CASCADE
  )`,
  'CREATE INDEX IF NOT EXISTS customer_failure_day_index ON customer_failure (day)',

  // Which entries of the request log are counted.
  `CREATE TABLE IF NOT EXISTS customer_progress (
    id smallint NOT NULL DEFAULT 1,
    seen_id bigint NOT NULL,
    updated_at timestamptz(3) NOT NULL,
    CONSTRAINT customer_progress_pkey PRIMARY KEY (id),
    CONSTRAINT customer_progress_id_check CHECK (id = 1)
  )`,
];
