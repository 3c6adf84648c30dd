import pg from 'pg';

/** Tables whose rows a process would work on or load as a whole, and those of which there is one row or one for each key. */
const LEFT_OUT = [
  'allowlisted_domain',
  'data_key',
  'key_check',
  'merchant',
  'merchant_name',
  'merchant_sign_out',
  'request_log_rollup_progress',
  'saml_key',
  'schema_migration',
  'token_signing_key',
  'user_erasure',
  'webhook_delivery',
  'webhook_listener',
  'webhook_recovery',
];

const COLUMNS = `
  SELECT table_class.relname AS table, attname AS name, typname AS type, greatest(atttypmod - 4, 0) AS length,
         (SELECT min(relname::text) FROM pg_constraint JOIN pg_class ON pg_class.oid = confrelid
           WHERE conrelid = attrelid AND contype = 'f' AND conkey = ARRAY[attnum]) AS references,
         (SELECT substring(pg_get_constraintdef(pg_constraint.oid) FROM '''([^'']+)''') FROM pg_constraint
           WHERE conrelid = attrelid AND contype = 'c' AND conkey = ARRAY[attnum] LIMIT 1) AS allowed
    FROM pg_attribute JOIN pg_class table_class ON table_class.oid = attrelid JOIN pg_type ON pg_type.oid = atttypid
   WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
     AND attnum > 0 AND NOT attisdropped AND attnotnull AND NOT atthasdef AND attidentity = ''
   ORDER BY relname, attnum`;

/** Fills each table with as many rows, whose times are spread over the last 24 hours. @returns the names of the tables */
export async function fillTables(databaseUrl, rows) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('SET synchronous_commit = off');
  const columns = (await client.query(COLUMNS)).rows.filter(({ table }) => !LEFT_OUT.includes(table));
  const tables = new Map();
  for (const column of columns) tables.set(column.table, [...(tables.get(column.table) ?? []), column]);
  const filled = new Set();
  const fill = async (table) => {
    if (filled.has(table) || !tables.has(table)) return;
    filled.add(table);
    const own = tables.get(table);
    for (const { references } of own) if (references) await fill(references);
    await client.query(
      `INSERT INTO ${table} (${own.map(({ name }) => `"${name}"`).join(', ')})
       SELECT ${own.map((column) => valueOf(column, rows)).join(', ')}
         FROM generate_series(1, ${rows}) AS number ON CONFLICT DO NOTHING`,
    );
    await client.query(`ANALYZE ${table}`);
  };
  for (const table of tables.keys()) await fill(table);
  await client.end();
  return [...filled].toSorted();
}

/** Returns an SQL expression whose values are different for each number, unless only some are allowed. */
function valueOf({ table, name, type, length, references, allowed }, rows) {
  if (references === 'merchant') return '(SELECT min(id) FROM merchant)';
  // Not a row of the service, which could not open what is sealed here.
  if (references) return `md5('${references} id ' || number)::uuid`;
  if (allowed) return `'${allowed}'`;
  if (name === 'environment') return `'production'`;
  const digest = `md5('${table} ${name} ' || number)`;
  switch (type) {
    case 'uuid':
      return `${digest}::uuid`;
    case 'bytea':
      return `decode(${digest}, 'hex')`;
    case 'text':
    case 'varchar':
      return length > 0 && length < 32 ? `left(${digest}, ${length})` : digest;
    case 'timestamptz':
      return /expires|due|lease/.test(name)
        ? `now() + interval '1 day'`
        : `now() - number * interval '${86_400 / rows} s'`;
    case 'int2':
      return '1::smallint';
    case 'int4':
    case 'int8':
      return 'number';
    case 'bool':
      return 'false';
    case 'float8':
      return '0';
    case 'jsonb':
      return `'{}'`;
    default:
      if (type.startsWith('_')) return `'{}'`;
      throw new Error(`${table}.${name} has the type ${type}.`);
  }
}
