#!/bin/sh
# Creates the roles and the database of the service. PostgreSQL's image runs it once; see docs/deployment.md.
# Requires OWNER_PASSWORD and SERVICE_PASSWORD, and the usual variables of psql (PGHOST, PGUSER, PGPASSWORD).
set -eu
psql --set=ON_ERROR_STOP=1 --no-psqlrc --dbname=postgres --username="${POSTGRES_USER:-postgres}" \
  --set=owner_password="$OWNER_PASSWORD" --set=service_password="$SERVICE_PASSWORD" <<'SQL'
-- Owns the tables and runs migrations.
CREATE ROLE service_owner LOGIN PASSWORD :'owner_password';
-- The running service. Migrations grant it what it needs.
CREATE ROLE service LOGIN PASSWORD :'service_password';
CREATE DATABASE service OWNER service_owner;
REVOKE CONNECT, TEMPORARY ON DATABASE service FROM PUBLIC;
GRANT CONNECT ON DATABASE service TO service;
SQL
