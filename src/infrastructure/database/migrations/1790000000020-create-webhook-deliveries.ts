import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Events, the queue of their deliveries, and a lane for each endpoint. Each attempt changes a row of the queue twice, so
 * the queue is vacuumed early and its pages keep free space. The foreign key of lanes is created first, so that deleting
 * an endpoint locks its lane before its deliveries, as all other statements do.
 */
export class CreateWebhookDeliveries1790000000020 implements MigrationInterface {
  readonly name = 'CreateWebhookDeliveries1790000000020';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      CREATE TABLE webhook_event (
        id uuid NOT NULL,
        created_at timestamptz(3) NOT NULL,
        client_id uuid NOT NULL,
        environment varchar(11) NOT NULL,
        event text NOT NULL,
        session_id uuid,
        task_id bigint,
        external_user_id varchar(256),
        body bytea NOT NULL,
        is_test boolean NOT NULL DEFAULT false,
        CONSTRAINT webhook_event_pkey PRIMARY KEY (id, created_at)
      ) PARTITION BY RANGE (created_at);
      CREATE TABLE webhook_event_default PARTITION OF webhook_event DEFAULT;

      CREATE TABLE webhook_lane (
        endpoint_id uuid NOT NULL,
        in_flight integer NOT NULL DEFAULT 0,
        next_due timestamptz,
        not_before timestamptz NOT NULL DEFAULT '-infinity',
        consecutive_failures integer NOT NULL DEFAULT 0,
        width integer,
        CONSTRAINT webhook_lane_pkey PRIMARY KEY (endpoint_id),
        CONSTRAINT webhook_lane_endpoint_fkey FOREIGN KEY (endpoint_id)
          REFERENCES webhook_endpoint (id) ON DELETE CASCADE,
        CONSTRAINT webhook_lane_in_flight_check CHECK (in_flight >= 0)
      ) WITH (fillfactor = 50);
      CREATE INDEX webhook_lane_due_index ON webhook_lane (next_due) WHERE next_due IS NOT NULL;

      CREATE TABLE webhook_delivery (
        id bigint GENERATED ALWAYS AS IDENTITY,
        endpoint_id uuid NOT NULL,
        event_id uuid NOT NULL,
        event_created_at timestamptz(3) NOT NULL,
        url text NOT NULL,
        attempts integer NOT NULL DEFAULT 0,
        attempts_allowed integer NOT NULL,
        due_at timestamptz NOT NULL,
        claim_id uuid,
        attempt_started_at timestamptz,
        lease_until timestamptz,
        CONSTRAINT webhook_delivery_pkey PRIMARY KEY (id),
        CONSTRAINT webhook_delivery_endpoint_fkey FOREIGN KEY (endpoint_id)
          REFERENCES webhook_endpoint (id) ON DELETE CASCADE,
        CONSTRAINT webhook_delivery_claim_check CHECK ((claim_id IS NULL) = (lease_until IS NULL))
      ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
      CREATE INDEX webhook_delivery_lane_index ON webhook_delivery (endpoint_id, due_at, id);
      CREATE INDEX webhook_delivery_lease_index ON webhook_delivery (lease_until) WHERE lease_until IS NOT NULL;
    `);
  }

  async down(connection: QueryRunner): Promise<void> {
    await connection.query(`DROP TABLE webhook_delivery; DROP TABLE webhook_lane; DROP TABLE webhook_event;`);
  }
}
