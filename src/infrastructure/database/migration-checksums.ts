import { createHash } from 'node:crypto';
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = 'schema_migration';

/**
 * A database of the last release has migrations with these numbers, names and checksums. Those before them are of earlier releases: the
 * last release ran only on databases that had all of them.
 */
export const LAST_RELEASE = {
  version: '0.3.0',
  firstNumber: 1_790_000_000_001,
  lastNumber: 1_790_000_000_051,
  digest: 'f0ab6c15bb323cdd01ddc8fdca1564a3e5b6c61aa43ac48dc273a06a2aee6e91',
};

export interface MigrationsState {
  /** Whether no migration ever ran, so the database gets the schema of this release at once. */
  readonly isNew: boolean;
  readonly pending: readonly string[];
  readonly changed: readonly string[];
  /** Migrations that belong neither to this release nor to a complete database of the last one. */
  readonly unknown: readonly string[];
  /** Migrations after the last one of this release. Migrations are written so that the previous release keeps working. */
  readonly newer: readonly string[];
}

/**
 * Returns the checksum of the statements of a migration. White space does not count. The migration must not depend on
 * the results of its statements, which are empty here.
 */
async function checksumOf(migration: MigrationInterface): Promise<string> {
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
  const known = await knownChecksums(dataSource);
  const lastKnown = Math.max(...[...known.keys()].map(numberOf));
  const others = [...ran.keys()].filter((name) => !known.has(name));
  const released = others.filter((name) => numberOf(name) <= LAST_RELEASE.lastNumber);
  const own = released.filter((name) => numberOf(name) >= LAST_RELEASE.firstNumber);
  const isUpgraded = digestOf(own.map((name) => `${name} ${ran.get(name)}`)) === LAST_RELEASE.digest;
  return {
    isNew: ran.size === 0,
    pending: [...known.keys()].filter((name) => !ran.has(name)),
    changed: [...ran].flatMap(([name, checksum]) => {
      const expected = known.get(name);
      return expected === undefined || checksum === null || checksum === expected ? [] : [name];
    }),
    unknown: others.filter((name) => numberOf(name) <= lastKnown && !(isUpgraded && released.includes(name))),
    newer: others.filter((name) => numberOf(name) > lastKnown),
  };
}

export async function storeChecksums(dataSource: DataSource): Promise<void> {
  const isComplete = [...(await storedChecksums(dataSource)).values()].every((checksum) => checksum !== null);
  if (isComplete) return;
  for (const [name, checksum] of await knownChecksums(dataSource)) {
    await dataSource.query(`UPDATE ${TABLE} SET checksum = $2 WHERE name = $1 AND checksum IS NULL`, [
      name,
      checksum,
    ]);
  }
}

/** Returns the migrations of this release, oldest first, with their checksums. */
async function knownChecksums({ migrations }: DataSource): Promise<Map<string, string>> {
  const checksums = await Promise.all(
    migrations.map(async (migration) => [nameOf(migration), await checksumOf(migration)] as const),
  );
  return new Map(checksums.toSorted(([left], [right]) => numberOf(left) - numberOf(right)));
}

/** Returns the migrations that ran, oldest first, with their checksums: null if they have just run. */
async function storedChecksums(dataSource: DataSource): Promise<Map<string, string | null>> {
  const [table] = await dataSource.query<{ exists: boolean }[]>(
    `SELECT to_regclass('${TABLE}') IS NOT NULL AS exists`,
  );
  if (!table?.exists) return new Map();
  const rows = await dataSource.query<{ name: string; checksum: string | null }[]>(
    // Unlike a column reference, to_jsonb also works if a release without checksums created the table.
    `SELECT name, to_jsonb(${TABLE})->>'checksum' AS checksum FROM ${TABLE} ORDER BY "timestamp"`,
  );
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}

const digestOf = (lines: readonly string[]): string =>
  createHash('sha256').update(lines.join('\n')).digest('hex');

const nameOf = ({ name = '' }: MigrationInterface): string => name;

/** Returns the number at the end of a migration's name, which orders the migrations. */
function numberOf(name: string): number {
  return Number(/\d{13}$/.exec(name)?.[0] ?? 0);
}
