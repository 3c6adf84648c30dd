import { createHash } from 'node:crypto';
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { MIGRATIONS } from './migrations/index.js';

const TABLE = 'schema_migration';

export interface MigrationsState {
  readonly pending: readonly string[];
  readonly changed: readonly string[];
  /** Migrations that this release does not know, although it has later ones. */
  readonly unknown: readonly string[];
  /** Migrations after the last one of this release. Migrations are written so that the previous release keeps working. */
  readonly newer: readonly string[];
}

/**
 * Returns the checksum of the statements of a migration. White space does not count. The migration must not depend on
 * the results of its statements, which are empty here.
 */
export async function checksumOf(migration: MigrationInterface): Promise<string> {
  const hash = createHash('sha256');
  const recorder = {
    query: async (statement: string): Promise<unknown[]> => {
      hash.update(`${statement.replaceAll(/\s+/g, ' ').trim()}\n`);
      return [];
    },
  };
  await migration.up(recorder as unknown as QueryRunner);
  return hash.digest('hex');
}

/** Compares the migrations that ran with those of this release. Changes nothing. */
export async function inspectMigrations(dataSource: DataSource): Promise<MigrationsState> {
  const ran = await storedChecksums(dataSource);
  const known = await knownChecksums();
  const lastKnown = Math.max(...[...known.keys()].map(numberOf));
  const others = [...ran.keys()].filter((name) => !known.has(name));
  return {
    pending: [...known.keys()].filter((name) => !ran.has(name)),
    changed: [...ran].flatMap(([name, checksum]) => {
      const expected = known.get(name);
      return expected === undefined || checksum === null || checksum === expected ? [] : [name];
    }),
    unknown: others.filter((name) => numberOf(name) <= lastKnown),
    newer: others.filter((name) => numberOf(name) > lastKnown),
  };
}

/** Stores the missing checksums of migrations that ran, for example with version 0.2.0, which stored none. */
export async function storeChecksums(dataSource: DataSource): Promise<void> {
  const isComplete = [...(await storedChecksums(dataSource)).values()].every((checksum) => checksum !== null);
  // Skips the ALTER TABLE below, which fails for a role that does not own the table even if the column exists.
  if (isComplete) return;
  await dataSource.query(`ALTER TABLE ${TABLE} ADD COLUMN IF NOT EXISTS checksum text`);
  for (const [name, checksum] of await knownChecksums()) {
    await dataSource.query(`UPDATE ${TABLE} SET checksum = $2 WHERE name = $1 AND checksum IS NULL`, [
      name,
      checksum,
    ]);
  }
}

async function knownChecksums(): Promise<Map<string, string>> {
  const migrations = MIGRATIONS.map((Migration) => new Migration());
  return new Map(
    await Promise.all(
      migrations.map(async (migration) => [migration.name, await checksumOf(migration)] as const),
    ),
  );
}

/** Returns the migrations that ran, with their checksums: null for those of releases that stored none. */
async function storedChecksums(dataSource: DataSource): Promise<Map<string, string | null>> {
  const [table] = await dataSource.query<{ exists: boolean }[]>(
    `SELECT to_regclass('${TABLE}') IS NOT NULL AS exists`,
  );
  if (!table?.exists) return new Map();
  const rows = await dataSource.query<{ name: string; checksum: string | null }[]>(
    // Unlike a column reference, to_jsonb also works while the column does not exist.
    `SELECT name, to_jsonb(${TABLE})->>'checksum' AS checksum FROM ${TABLE} ORDER BY "timestamp"`,
  );
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}

/** Returns the number at the end of a migration's name, which orders the migrations. */
function numberOf(name: string): number {
  return Number(/\d{13}$/.exec(name)?.[0] ?? 0);
}
