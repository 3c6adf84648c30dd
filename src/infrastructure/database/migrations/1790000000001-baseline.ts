import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The schema of version 0.2.0, the first release. */
export class Baseline1790000000001 implements MigrationInterface {
  readonly name = 'Baseline1790000000001';

  async up(connection: QueryRunner): Promise<void> {
    await connection.query(`
      -- Wrapped data keys, and values that detect a wrong key.
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

      -- Organizations, their API clients (one per environment) and the secrets of the clients.
      CREATE TABLE organization (
        id uuid NOT NULL,
        name varchar(256) NOT NULL,
        created_at timestamptz(3) NOT NULL,
        activated_at timestamptz(3),
        logo bytea,
        logo_media_type text,
        CONSTRAINT organization_pkey PRIMARY KEY (id)
      );
      CREATE TABLE api_client (
        id uuid NOT NULL,
        organization_id uuid NOT NULL,
        environment varchar(11) NOT NULL,
        enabled_operations text[] NOT NULL DEFAULT '{}',
        created_at timestamptz(3) NOT NULL,
        CONSTRAINT api_client_pkey PRIMARY KEY (id),
        CONSTRAINT api_client_organization_environment_key UNIQUE (organization_id, environment),
        CONSTRAINT api_client_organization_fkey FOREIGN KEY (organization_id) REFERENCES organization (id),
        CONSTRAINT api_client_environment_check CHECK (environment IN ('development', 'production'))
      );
      CREATE TABLE api_secret (
        id uuid NOT NULL,
        client_id uuid NOT NULL,
        version integer NOT NULL,
        digest bytea NOT NULL,
        sealed bytea NOT NULL,
        created_at timestamptz(3) NOT NULL,
        signs_from timestamptz(3) NOT NULL,
        accepted_until timestamptz(3),
        CONSTRAINT api_secret_pkey PRIMARY KEY (id),
        CONSTRAINT api_secret_client_version_key UNIQUE (client_id, version),
        CONSTRAINT api_secret_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id)
      );

      -- Users of the dashboard: logins, second factor, one-time links, attempt counts and access grants.
      CREATE TABLE dashboard_user (
        id uuid NOT NULL,
        organization_id uuid NOT NULL,
        email varchar(254) NOT NULL,
        name varchar(256) NOT NULL,
        role varchar(6) NOT NULL,
        password_hash text,
        created_at timestamptz(3) NOT NULL,
        disabled_at timestamptz(3),
        totp_secret_sealed bytea,
        totp_enabled_at timestamptz(3),
        totp_last_step integer,
        CONSTRAINT dashboard_user_pkey PRIMARY KEY (id),
        CONSTRAINT dashboard_user_organization_email_key UNIQUE (organization_id, email),
        CONSTRAINT dashboard_user_organization_fkey FOREIGN KEY (organization_id) REFERENCES organization (id),
        CONSTRAINT dashboard_user_role_check CHECK (role IN ('owner', 'admin', 'member'))
      );
      -- Several organizations can invite the same email address until its owner accepts one of the invitations.
      CREATE UNIQUE INDEX dashboard_user_email_key ON dashboard_user (email) WHERE password_hash IS NOT NULL;

      CREATE TABLE dashboard_session (
        id uuid NOT NULL,
        token_hash bytea NOT NULL,
        user_id uuid NOT NULL,
        stage varchar(13) NOT NULL,
        authenticated_at timestamptz(3) NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        ip text NOT NULL,
        user_agent text NOT NULL,
        CONSTRAINT dashboard_session_pkey PRIMARY KEY (id),
        CONSTRAINT dashboard_session_token_hash_key UNIQUE (token_hash),
        CONSTRAINT dashboard_session_user_fkey FOREIGN KEY (user_id) REFERENCES dashboard_user (id)
          ON DELETE CASCADE,
        CONSTRAINT dashboard_session_stage_check CHECK (stage IN ('second_factor', 'complete'))
      );
      CREATE INDEX dashboard_session_user_index ON dashboard_session (user_id);
      CREATE INDEX dashboard_session_expires_at_index ON dashboard_session (expires_at);

      CREATE TABLE recovery_code (
        digest bytea NOT NULL,
        user_id uuid NOT NULL,
        CONSTRAINT recovery_code_pkey PRIMARY KEY (user_id, digest),
        CONSTRAINT recovery_code_user_fkey FOREIGN KEY (user_id) REFERENCES dashboard_user (id) ON DELETE CASCADE
      );

      CREATE TABLE password_link (
        token_hash bytea NOT NULL,
        user_id uuid NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        CONSTRAINT password_link_pkey PRIMARY KEY (token_hash),
        CONSTRAINT password_link_user_key UNIQUE (user_id),
        CONSTRAINT password_link_user_fkey FOREIGN KEY (user_id) REFERENCES dashboard_user (id) ON DELETE CASCADE
      );
      CREATE INDEX password_link_expires_at_index ON password_link (expires_at);

      CREATE TABLE access_grant (
        id uuid NOT NULL,
        user_id uuid NOT NULL,
        role varchar(6) NOT NULL,
        reason varchar(256) NOT NULL,
        created_at timestamptz(3) NOT NULL,
        created_by varchar(254) NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        revoked_at timestamptz(3),
        CONSTRAINT access_grant_pkey PRIMARY KEY (id),
        CONSTRAINT access_grant_user_fkey FOREIGN KEY (user_id) REFERENCES dashboard_user (id) ON DELETE CASCADE,
        CONSTRAINT access_grant_role_check CHECK (role IN ('owner', 'admin'))
      );
      CREATE INDEX access_grant_user_index ON access_grant (user_id);

      CREATE TABLE attempt_count (
        key varchar(255) NOT NULL,
        points integer NOT NULL,
        expire bigint,
        CONSTRAINT attempt_count_pkey PRIMARY KEY (key)
      );

      -- MCP tokens. Only a hash of each token is stored.
      CREATE TABLE mcp_token (
        id bigint GENERATED BY DEFAULT AS IDENTITY NOT NULL,
        token_hash bytea NOT NULL,
        client_id uuid NOT NULL,
        environment varchar(11) NOT NULL,
        external_user_id varchar(256) NOT NULL,
        phone_number_sealed bytea,
        created_at timestamptz(3) NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        revoked_at timestamptz(3),
        CONSTRAINT mcp_token_pkey PRIMARY KEY (id),
        CONSTRAINT mcp_token_hash_key UNIQUE (token_hash),
        CONSTRAINT mcp_token_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id)
      );
      CREATE INDEX mcp_token_expires_at_index ON mcp_token (expires_at);

      -- Merchants, the names by which searches find them, the accounts detected for users, and hidden merchants.
      CREATE TABLE merchant (
        id integer GENERATED BY DEFAULT AS IDENTITY (START WITH 10000) NOT NULL,
        name varchar(256) NOT NULL,
        CONSTRAINT merchant_pkey PRIMARY KEY (id)
      );
      CREATE TABLE merchant_name (
        match_key text NOT NULL,
        merchant_id integer NOT NULL,
        CONSTRAINT merchant_name_pkey PRIMARY KEY (match_key),
        CONSTRAINT merchant_name_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchant (id)
      );
      CREATE TABLE detected_account (
        client_id uuid NOT NULL,
        external_user_id varchar(256) NOT NULL,
        merchant_id integer NOT NULL,
        detected_at timestamptz(3) NOT NULL,
        CONSTRAINT detected_account_pkey PRIMARY KEY (client_id, external_user_id, merchant_id),
        CONSTRAINT detected_account_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id),
        CONSTRAINT detected_account_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchant (id)
      );
      CREATE TABLE merchant_visibility (
        organization_id uuid NOT NULL,
        environment varchar(11) NOT NULL,
        merchant_id integer NOT NULL,
        hidden_at timestamptz(3) NOT NULL,
        CONSTRAINT merchant_visibility_pkey PRIMARY KEY (organization_id, environment, merchant_id),
        CONSTRAINT merchant_visibility_organization_fkey FOREIGN KEY (organization_id) REFERENCES organization (id),
        CONSTRAINT merchant_visibility_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchant (id),
        CONSTRAINT merchant_visibility_environment_check CHECK (environment IN ('development', 'production'))
      );

      -- Job applications: personal data, deleted after a retention period.
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

      -- Sessions of users in the client SDK, and numbers for their tasks.
      CREATE TABLE session (
        id uuid NOT NULL,
        client_id uuid NOT NULL,
        type varchar(16) NOT NULL,
        external_user_id varchar(256) NOT NULL,
        card_id varchar(256),
        email_sealed bytea,
        phone_number_sealed bytea,
        metadata jsonb NOT NULL DEFAULT '{}',
        created_at timestamptz(3) NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        CONSTRAINT session_pkey PRIMARY KEY (id),
        CONSTRAINT session_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id)
      );
      CREATE INDEX session_expires_at_index ON session (expires_at);
      CREATE SEQUENCE task_id_seq AS bigint;

      -- Request log: API requests and webhook attempts, partitioned by day. The primary key is the keyset index: an
      -- index that begins with the time would tempt the planner into scanning all clients. There are no foreign keys,
      -- because bulk inserts must not wait for locks on clients.
      CREATE SEQUENCE request_log_id_seq AS bigint;
      CREATE TABLE request_log (
        id bigint NOT NULL DEFAULT nextval('request_log_id_seq'),
        client_id uuid NOT NULL,
        environment varchar(11) NOT NULL,
        created_at timestamptz(3) NOT NULL,
        type varchar(7) NOT NULL,
        method text NOT NULL,
        path text,
        url text,
        event text,
        status_code smallint NOT NULL,
        latency_ms integer NOT NULL,
        session_id uuid,
        task_id bigint,
        external_user_id varchar(256),
        webhook_endpoint_id uuid,
        webhook_event_id uuid,
        attempt smallint,
        reason text,
        dns_ms integer,
        connect_ms integer,
        tls_ms integer,
        first_byte_ms integer,
        CONSTRAINT request_log_pkey PRIMARY KEY (client_id, environment, created_at, id),
        CONSTRAINT request_log_type_check CHECK (type IN ('request', 'webhook'))
      ) PARTITION BY RANGE (created_at);
      CREATE TABLE request_log_default PARTITION OF request_log DEFAULT;
      ALTER SEQUENCE request_log_id_seq OWNED BY request_log.id;
      -- One index per filter, in the order of the pages, so that a filter that matches nothing responds immediately.
      -- Status 200 and the two types need none, because matching entries are never far apart.
      CREATE INDEX request_log_session_index ON request_log (client_id, environment, session_id, created_at, id)
        WHERE session_id IS NOT NULL;
      CREATE INDEX request_log_user_index ON request_log (client_id, environment, external_user_id, created_at, id)
        WHERE external_user_id IS NOT NULL;
      CREATE INDEX request_log_status_index ON request_log (client_id, environment, status_code, created_at, id)
        WHERE status_code <> 200;
      CREATE INDEX request_log_event_index ON request_log (client_id, environment, event, created_at, id)
        WHERE event IS NOT NULL;
      CREATE INDEX request_log_task_index ON request_log (client_id, environment, task_id, created_at, id)
        WHERE task_id IS NOT NULL;
      CREATE INDEX request_log_endpoint_index ON request_log (webhook_endpoint_id, created_at)
        WHERE webhook_endpoint_id IS NOT NULL;
      -- IDs rise with the position on disk, so a BRIN index finds one at a small part of the cost of a B-tree.
      CREATE INDEX request_log_id_index ON request_log USING brin (id) WITH (pages_per_range = 32, autosummarize = on);

      -- Audit log: one hash chain per organization. To append, a transaction locks the organization's row in
      -- audit_chain. The trigger stops superusers too, unless they disable it, and then the chain shows the change.
      CREATE TABLE audit_chain (
        organization_id uuid NOT NULL,
        sequence bigint NOT NULL,
        created_at timestamptz(3) NOT NULL,
        hash bytea NOT NULL,
        CONSTRAINT audit_chain_pkey PRIMARY KEY (organization_id),
        CONSTRAINT audit_chain_organization_fkey FOREIGN KEY (organization_id) REFERENCES organization (id)
      );
      CREATE TABLE audit_log (
        organization_id uuid NOT NULL,
        sequence bigint NOT NULL,
        id uuid NOT NULL,
        created_at timestamptz(3) NOT NULL,
        action text NOT NULL,
        outcome text NOT NULL,
        actor_name text NOT NULL,
        actor_email text NOT NULL,
        target_type text NOT NULL,
        target_name text,
        target_environment text NOT NULL,
        context_ip text NOT NULL,
        context_user_agent text NOT NULL,
        hash bytea NOT NULL,
        CONSTRAINT audit_log_pkey PRIMARY KEY (organization_id, sequence),
        CONSTRAINT audit_log_id_key UNIQUE (id)
      );
      CREATE INDEX audit_log_page_index ON audit_log (organization_id, created_at, sequence);

      CREATE FUNCTION refuse_change_of_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          RAISE EXCEPTION 'The audit log is append-only: % is refused.', TG_OP
            USING ERRCODE = 'insufficient_privilege';
        END
      $$;
      CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit_log();
      REVOKE UPDATE, DELETE, TRUNCATE ON audit_log FROM PUBLIC, CURRENT_USER;

      -- Device authorization flow: requests from devices, keys that sign access tokens, and revoked access tokens.
      CREATE TABLE device_authorization (
        id uuid NOT NULL,
        client_id uuid NOT NULL,
        organization_id uuid NOT NULL,
        environment varchar(11) NOT NULL,
        device_code_hash bytea NOT NULL,
        user_code_digest bytea NOT NULL,
        user_code_sealed bytea NOT NULL,
        scopes text[] NOT NULL,
        status varchar(8) NOT NULL,
        interval_seconds integer NOT NULL,
        requested_at timestamptz(3) NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        ip text NOT NULL,
        user_agent text NOT NULL,
        user_id uuid,
        decided_at timestamptz(3),
        CONSTRAINT device_authorization_pkey PRIMARY KEY (id),
        CONSTRAINT device_authorization_device_code_hash_key UNIQUE (device_code_hash),
        CONSTRAINT device_authorization_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id),
        CONSTRAINT device_authorization_organization_fkey FOREIGN KEY (organization_id)
          REFERENCES organization (id),
        CONSTRAINT device_authorization_user_fkey FOREIGN KEY (user_id) REFERENCES dashboard_user (id)
          ON DELETE SET NULL,
        CONSTRAINT device_authorization_status_check
          CHECK (status IN ('pending', 'approved', 'denied', 'redeemed'))
      );
      -- A user code must be unique only until a user approves or denies it.
      CREATE UNIQUE INDEX device_authorization_user_code_key ON device_authorization (user_code_digest)
        WHERE status = 'pending';
      CREATE INDEX device_authorization_expires_at_index ON device_authorization (expires_at);
      CREATE INDEX device_authorization_user_index ON device_authorization (user_id);

      CREATE TABLE token_signing_key (
        kid uuid NOT NULL,
        algorithm varchar(5) NOT NULL,
        public_jwk jsonb NOT NULL,
        private_sealed bytea NOT NULL,
        created_at timestamptz(3) NOT NULL,
        signs_from timestamptz(3) NOT NULL,
        CONSTRAINT token_signing_key_pkey PRIMARY KEY (kid),
        CONSTRAINT token_signing_key_signs_from_key UNIQUE (signs_from),
        CONSTRAINT token_signing_key_algorithm_check CHECK (algorithm IN ('ES256', 'RS256'))
      );

      CREATE TABLE revoked_access_token (
        jti uuid NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        CONSTRAINT revoked_access_token_pkey PRIMARY KEY (jti)
      );
      CREATE INDEX revoked_access_token_expires_at_index ON revoked_access_token (expires_at);

      -- Changes with every poll and is worthless after a crash. Without WAL, a poll never waits for the disk.
      CREATE UNLOGGED TABLE device_poll (
        authorization_id uuid NOT NULL,
        accepted_at timestamptz(3) NOT NULL,
        interval_seconds integer NOT NULL,
        early boolean NOT NULL,
        CONSTRAINT device_poll_pkey PRIMARY KEY (authorization_id)
      );

      -- Settings of an organization: domains from which it invites users, and identity providers. At most one
      -- identity provider is enabled.
      CREATE TABLE allowlisted_domain (
        id uuid NOT NULL,
        organization_id uuid NOT NULL,
        domain varchar(253) NOT NULL,
        created_at timestamptz(3) NOT NULL,
        CONSTRAINT allowlisted_domain_pkey PRIMARY KEY (id),
        CONSTRAINT allowlisted_domain_organization_fkey FOREIGN KEY (organization_id) REFERENCES organization (id),
        CONSTRAINT allowlisted_domain_organization_domain_key UNIQUE (organization_id, domain)
      );
      CREATE TABLE saml_configuration (
        id uuid NOT NULL,
        organization_id uuid NOT NULL,
        name varchar(256) NOT NULL,
        metadata_xml text NOT NULL,
        entity_id text NOT NULL,
        sso_url text NOT NULL,
        sso_binding text NOT NULL,
        certificates text[] NOT NULL,
        created_at timestamptz(3) NOT NULL,
        enabled_at timestamptz(3),
        CONSTRAINT saml_configuration_pkey PRIMARY KEY (id),
        CONSTRAINT saml_configuration_organization_fkey FOREIGN KEY (organization_id) REFERENCES organization (id)
      );
      CREATE INDEX saml_configuration_organization_index ON saml_configuration (organization_id);
      CREATE UNIQUE INDEX saml_configuration_enabled_key ON saml_configuration (organization_id)
        WHERE enabled_at IS NOT NULL;

      -- Webhooks: endpoints, events, and the queue of deliveries with one lane per endpoint. Each attempt changes its
      -- delivery twice, so autovacuum runs early and pages keep free space. The foreign key of the lanes comes first:
      -- deleting an endpoint locks the lane before the deliveries, in the same order as everything else.
      CREATE TABLE webhook_endpoint (
        id uuid NOT NULL,
        client_id uuid NOT NULL,
        url varchar(2083) NOT NULL,
        description varchar(255),
        created_at timestamptz(3) NOT NULL,
        CONSTRAINT webhook_endpoint_pkey PRIMARY KEY (id),
        CONSTRAINT webhook_endpoint_client_fkey FOREIGN KEY (client_id) REFERENCES api_client (id)
          ON DELETE CASCADE,
        CONSTRAINT webhook_endpoint_client_url_key UNIQUE (client_id, url)
      );

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
    await connection.query(`
      DROP TABLE
        webhook_delivery, webhook_lane, webhook_event, webhook_endpoint, saml_configuration,
        allowlisted_domain, device_poll, revoked_access_token, token_signing_key, device_authorization,
        audit_log, audit_chain, request_log, session, job_application, merchant_visibility, detected_account,
        merchant_name, merchant, mcp_token, attempt_count, access_grant, password_link, recovery_code,
        dashboard_session, dashboard_user, api_secret, api_client, organization, key_check, data_key;
      DROP SEQUENCE task_id_seq;
      DROP FUNCTION refuse_change_of_audit_log();
    `);
  }
}
