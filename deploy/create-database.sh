#!/bin/sh
# Creates the roles and the database of the service, or, if they exist, sets the passwords. PostgreSQL's image runs it once; see
# docs/database.md. Requires OWNER_PASSWORD and SERVICE_PASSWORD, and the usual variables of psql (PGHOST, PGUSER, PGPASSWORD; and
# PGDATABASE, if the administrator has another database than postgres).
set -eu
export OWNER_PASSWORD="${OWNER_PASSWORD:?}" SERVICE_PASSWORD="${SERVICE_PASSWORD:?}"
psql --set=ON_ERROR_STOP=1 --no-psqlrc --dbname="${PGDATABASE:-postgres}" --username="${POSTGRES_USER:-${PGUSER:-postgres}}" <<'SQL'
-- Every user of the machine can read the arguments of a program, but not its environment.
\set owner_password `printenv OWNER_PASSWORD`
\set service_password `printenv SERVICE_PASSWORD`
-- Owns the tables and runs migrations.
SELECT 'CREATE ROLE service_owner' WHERE to_regrole('service_owner') IS NULL \gexec
ALTER ROLE service_owner LOGIN PASSWORD :'owner_password';
-- The running service. Migrations grant it what it needs.
SELECT 'CREATE ROLE service' WHERE to_regrole('service') IS NULL \gexec
ALTER ROLE service LOGIN PASSWORD :'service_password';
-- Managed servers have no superuser: their administrator must be a member of the role that gets the database.
SELECT 'GRANT service_owner TO CURRENT_USER' FROM pg_roles WHERE rolname = current_user AND NOT rolsuper \gexec
SELECT 'CREATE DATABASE service OWNER service_owner ENCODING ''UTF8'' TEMPLATE template0'
  WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'service') \gexec
REVOKE CONNECT, TEMPORARY ON DATABASE service FROM PUBLIC;
GRANT CONNECT ON DATABASE service TO service;
SQL
