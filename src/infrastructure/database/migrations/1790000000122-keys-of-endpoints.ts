import type { MigrationInterface, QueryRunner } from 'typeorm';
import { changeSchema, runBesideOthers } from './schema-change.js';

/**
 * Keys and headers of webhook endpoints. Version 0.3.0 knows neither, so it must leave the deliveries of such endpoints alone: their
 * lanes are paused until the end of time for it, and a test, which does not ask whether the lane is paused, is refused.
 */
export class KeysOfEndpoints1790000000122 implements MigrationInterface {
  readonly name = 'KeysOfEndpoints1790000000122';
  readonly transaction = false;

  async up(connection: QueryRunner): Promise<void> {
    await changeSchema(
      connection,
      `CREATE TABLE IF NOT EXISTS webhook_endpoint_key (
         id uuid NOT NULL,
         endpoint_id uuid NOT NULL,
         version integer NOT NULL,
         kind varchar(7) NOT NULL,
         sealed bytea,
         public_key text,
         created_at timestamp(3) with time zone NOT NULL,
         signs_from timestamp(3) with time zone NOT NULL,
         accepted_until timestamp(3) with time zone,
         CONSTRAINT webhook_endpoint_key_pkey PRIMARY KEY (id),
         CONSTRAINT webhook_endpoint_key_version_key UNIQUE (endpoint_id, version),
         CONSTRAINT webhook_endpoint_key_sealed_check CHECK ((kind = 'client') = (sealed IS NULL)),
         CONSTRAINT webhook_endpoint_key_endpoint_fkey FOREIGN KEY (endpoint_id)
           REFERENCES webhook_endpoint (id) ON DELETE CASCADE)`,
    );
    await changeSchema(
      connection,
      `ALTER TABLE webhook_endpoint
         ADD COLUMN IF NOT EXISTS signing_revision integer NOT NULL DEFAULT 0,
         ADD COLUMN IF NOT EXISTS header_names text[] NOT NULL DEFAULT '{}',
         ADD COLUMN IF NOT EXISTS sealed_headers bytea`,
    );
    await changeSchema(
      connection,
      'ALTER TABLE webhook_lane ADD COLUMN IF NOT EXISTS is_reserved boolean NOT NULL DEFAULT false',
    );
    await changeSchema(
      connection,
      `ALTER TABLE webhook_lane
         DROP CONSTRAINT IF EXISTS webhook_lane_reserved_check,
         ADD CONSTRAINT webhook_lane_reserved_check CHECK (NOT is_reserved OR paused_at IS NOT NULL) NOT VALID`,
    );
    await runBesideOthers(
      connection,
      'ALTER TABLE webhook_lane VALIDATE CONSTRAINT webhook_lane_reserved_check',
    );
    // Only a test is claimed without the ID of a worker. The code is one for which version 0.3.0 responds with 503.
    await changeSchema(
      connection,
      `CREATE OR REPLACE FUNCTION refuse_test_of_reserved_lane() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN
         IF EXISTS (SELECT FROM webhook_lane WHERE endpoint_id = NEW.endpoint_id AND is_reserved) THEN
           RAISE EXCEPTION USING ERRCODE = '57014',
             MESSAGE = 'The endpoint has a key or headers of its own, which this release does not know';
         END IF;
         RETURN NEW;
       END $$`,
    );
    await changeSchema(
      connection,
      `CREATE OR REPLACE TRIGGER webhook_delivery_reserved BEFORE INSERT ON webhook_delivery FOR EACH ROW
         WHEN (NEW.claim_id IS NOT NULL AND NEW.claimed_by IS NULL
               AND current_setting('webhooks.knows_reserved', true) IS DISTINCT FROM 'yes')
         EXECUTE FUNCTION refuse_test_of_reserved_lane()`,
    );
  }

  down(): never {
    throw new Error('Version 0.3.0 works on this schema. To go back further, restore a backup.');
  }
}
