/** Settings of a session by their names in PostgreSQL. */
export type SessionSettings = Readonly<Record<string, string>>;

declare module 'pg' {
  interface ClientConfig {
    /** Settings of the session that differ from those of every session. */
    session?: SessionSettings;
  }
}

/**
 * The settings that this service requires. Servers, databases and roles can have other defaults: a `DateStyle` that `pg` cannot read, or an
 * isolation level in which statements fail that were never written for it. A database is never made writable, because operators
 * and providers set `default_transaction_read_only` to protect it.
 */
const DEFAULTS: SessionSettings = {
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  array_nulls: 'on',
  bytea_output: 'hex',
  default_transaction_deferrable: 'off',
  default_transaction_isolation: 'read committed',
  extra_float_digits: '1',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  lock_timeout: '0',
  quote_all_identifiers: 'off',
  row_security: 'on',
  standard_conforming_strings: 'on',
  statement_timeout: '0',
  // Since PostgreSQL 17.
  transaction_timeout: '0',
  transform_null_equals: 'off',
};

/**
 * Applies settings that the server knows and that differ. The schema is the first of the `search_path` that has tables of this service
 * for this role, otherwise `public` if it has them, otherwise the first that exists. `pg_temp` comes last, so that no temporary table
 * takes the place of a table.
 */
const APPLY = `
  SELECT set_config(name, setting, false) FROM unnest($1::text[], $2::text[]) AS wanted (name, setting)
   WHERE current_setting(name, true) <> setting
  UNION ALL
  SELECT set_config('search_path', quote_ident(coalesce(
           (SELECT nspname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
             WHERE relname = 'schema_migration' AND nspname = ANY (current_schemas(false) || name 'public')
               AND has_table_privilege(pg_class.oid, 'SELECT')
             ORDER BY array_position(current_schemas(false), nspname) LIMIT 1),
           current_schema(), 'public')) || ', pg_temp', false)`;

/**
 * Returns the statement, with its parameters, that gives a session these settings, and the defaults of this service for all others.
 * Startup parameters would need no statement, but poolers refuse or ignore them.
 */
export function applying(settings: SessionSettings = {}): [statement: string, parameters: string[][]] {
  const wanted = { ...DEFAULTS, ...settings };
  return [APPLY, [Object.keys(wanted), Object.values(wanted)]];
}
