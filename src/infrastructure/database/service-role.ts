import type { DataSource } from 'typeorm';

/**
 * Tables on which the role of the service gets fewer privileges: it cannot change audit log entries or the list of
 * migrations that ran.
 */
const RESTRICTED_TABLES: Readonly<Record<string, string>> = {
  audit_log: 'SELECT, INSERT',
  schema_migration: 'SELECT',
};

/**
 * Grants the role of the running service the privileges that it needs on the current schema, which the current role
 * must own. Can be repeated. Tables that are created later, such as partitions, get the privileges when they are
 * created.
 */
export async function grantToServiceRole(dataSource: DataSource, role: string): Promise<void> {
  const [{ name, schema }] = await dataSource.query(
    'SELECT quote_ident($1) AS name, quote_ident(current_schema()) AS schema',
    [role],
  );
  const tables = 'SELECT, INSERT, UPDATE, DELETE';
  await dataSource.transaction(async (transaction) => {
    await transaction.query(`GRANT USAGE ON SCHEMA ${schema} TO ${name}`);
    await transaction.query(`GRANT ${tables} ON ALL TABLES IN SCHEMA ${schema} TO ${name}`);
    await transaction.query(`GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${name}`);
    await transaction.query(`GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} TO ${name}`);
    await transaction.query(
      `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT ${tables} ON TABLES TO ${name}`,
    );
    for (const [table, privileges] of Object.entries(RESTRICTED_TABLES)) {
      await transaction.query(`REVOKE ALL ON ${table} FROM ${name}`);
      await transaction.query(`GRANT ${privileges} ON ${table} TO ${name}`);
    }
  });
}
