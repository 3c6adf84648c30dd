import { setTimeout as pause } from 'node:timers/promises';
import type { DataSource, EntityManager } from 'typeorm';
import { HOUR, SECOND } from '../../time/index.js';
import { OperatorError } from '../../errors/index.js';
import { withAdvisoryLock } from '../advisory-lock.js';
import { DailyPartitions } from '../daily-partitions.js';
import type { DriverAddress } from '../database-address.js';
import { disownSequence, settledId } from '../id-sequence.js';
import { isLockTimeout } from '../sql-state.js';

/** Blocks of a partition that one transaction copies: about 100,000 rows of the request log. */
const BLOCKS_PER_COPY = 5_000;
/** How often the rows that were written meanwhile are copied before the tables are exchanged. */
const CATCH_UPS = 3;
/** The exchange makes writers and readers wait for this long at most, plus the time that it takes itself. */
const LOCK_TIMEOUT = '500ms';
const MAX_EXCHANGE_ATTEMPTS = 60;
const EXCHANGE_RETRY_DELAY = 2 * SECOND;
const SETTLEMENT_TIMEOUT = 60 * SECOND;

export interface TableMoveOptions {
  readonly column: string;
  readonly shards: number;
  readonly retentionDays: number;
  readonly now: () => Date;
  /** Another job that reads the table for long, which the exchange waits for. */
  readonly readingJob: string;
  readonly report: (sentence: string) => void;
}

interface Part {
  readonly name: string;
  readonly nextBlock: number;
}

/**
 * Moves a table that is partitioned by day to the nodes of a cluster, while it is read and written.
 *
 * The rows are copied into a distributed table of the same name in another schema, partition by partition and some blocks at
 * a time. All rows with an ID below the settled one are copied like this; those that are written meanwhile are copied by
 * their IDs. Finally, in one transaction that locks the table, the last rows are copied and the tables exchange their
 * schemas. Each copy commits together with its progress, so an interrupted move continues where it was.
 */
export class TableMove {
  /** Contains the distributed table and the progress until the exchange. */
  private readonly target: string;
  /** Contains the local table after the exchange. */
  private readonly former: string;
  private readonly partitions: DailyPartitions;
  private maintainedAt = -Infinity;

  constructor(
    private readonly dataSource: DataSource,
    private readonly address: DriverAddress,
    private readonly table: string,
    private readonly options: TableMoveOptions,
  ) {
    this.target = `${table}_distributed`;
    this.former = `${table}_local`;
    this.partitions = new DailyPartitions(dataSource);
  }

  /** @returns the number of rows that were moved */
  async run(): Promise<number> {
    await this.prepare();
    do {
      await this.copyAll();
      for (let count = 1; count <= CATCH_UPS; count += 1) await this.catchUp();
    } while (!(await this.verify()));
    return this.exchange();
  }

  /** Finishes an exchange: moves the partitions to the schema of their table, and drops the local table, one by one. */
  async finish(): Promise<void> {
    const schema = await this.schema();
    for (const part of await this.partsOf(schema, this.target)) {
      await this.withLock(`${this.target}.${part}`, (transaction) =>
        transaction.query(`ALTER TABLE ${this.target}.${part} SET SCHEMA ${schema}`),
      );
    }
    for (const part of await this.partsOf(this.former)) {
      await this.query(`DROP TABLE ${this.former}.${part}`);
    }
    await this.query(
      `DROP SCHEMA IF EXISTS ${this.former} CASCADE; DROP SCHEMA IF EXISTS ${this.target} CASCADE`,
    );
  }

  private async prepare(): Promise<void> {
    const { table, target, former } = this;
    if (await this.exists(`${target}.progress`)) {
      await this.maintain();
    } else {
      await this.partitions.rotate(table, this.options.now(), { days: this.options.retentionDays });
      this.maintainedAt = performance.now();
      // In a transaction of its own, because the lock makes writers wait.
      await disownSequence((...parameters) => this.query(...parameters), table);
      const id = await this.settle();
      await this.dataSource.transaction(async (transaction) => {
        await transaction.query(`CREATE SCHEMA ${target}; CREATE SCHEMA ${former}`);
        await this.createTarget(transaction);
        await transaction.query(
          `CREATE TABLE ${target}.progress (settled_id bigint NOT NULL);
           CREATE TABLE ${target}.part (
             name text PRIMARY KEY, next_block bigint NOT NULL DEFAULT 0, is_complete boolean NOT NULL DEFAULT false)`,
        );
        await transaction.query(`INSERT INTO ${target}.progress VALUES ($1)`, [id]);
      });
    }
    const [{ isDistributed }] = await this.query<[{ isDistributed: boolean }]>(
      `SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = $1::regclass) AS "isDistributed"`,
      [`${target}.${table}`],
    );
    if (isDistributed) return;
    // Not in the same transaction: the role that owns the tables would not see objects that Citus creates as a superuser.
    await this.query(
      `SELECT create_distributed_table($1::regclass, $2, colocate_with => 'none', shard_count => $3::int)`,
      [`${target}.${table}`, this.options.column, this.options.shards],
    );
  }

  private async createTarget(transaction: EntityManager): Promise<void> {
    const [{ schema }] = await transaction.query<[{ schema: string }]>('SELECT current_schema() AS schema');
    const { table, target } = this;
    await transaction.query(
      `CREATE TABLE ${target}.${table} (LIKE ${table} INCLUDING ALL EXCLUDING INDEXES) PARTITION BY RANGE (created_at)`,
    );
    // LIKE would give the indexes other names.
    const constraints = await transaction.query<{ name: string; definition: string }[]>(
      `SELECT quote_ident(conname) AS name, pg_get_constraintdef(oid) AS definition
         FROM pg_constraint WHERE conrelid = $1::regclass AND contype IN ('p', 'u')`,
      [table],
    );
    for (const { name, definition } of constraints) {
      await transaction.query(`ALTER TABLE ${target}.${table} ADD CONSTRAINT ${name} ${definition}`);
    }
    const indexes = await transaction.query<{ definition: string }[]>(
      `SELECT pg_get_indexdef(indexrelid) AS definition FROM pg_index
        WHERE indrelid = $1::regclass AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`,
      [table],
    );
    for (const { definition } of indexes) {
      const statement = definition.replace(
        new RegExp(` ON (?:ONLY )?(?:"?${schema}"?\\.)?${table} `),
        ` ON ${target}.${table} `,
      );
      await transaction.query(statement);
    }
    await this.createParts(transaction);
  }

  /** Creates the missing partitions with the bounds and privileges of those of the local table. */
  private async createParts(transaction: EntityManager): Promise<void> {
    const { table, target } = this;
    const parts = await transaction.query<{ name: string; bounds: string }[]>(
      `SELECT quote_ident(relname) AS name, pg_get_expr(relpartbound, oid) AS bounds FROM pg_class
        WHERE oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = $1::regclass)
          AND to_regclass('${target}.' || quote_ident(relname)) IS NULL ORDER BY relname`,
      [table],
    );
    for (const { name, bounds } of parts) {
      await transaction.query(`CREATE TABLE ${target}.${name} PARTITION OF ${target}.${table} ${bounds}`);
      for (const { definition } of await this.ownIndexesOf(name)) {
        await transaction.query(`CREATE INDEX ON ${target}.${name} ${definition}`);
      }
    }
    const grants = await transaction.query<{ privilege: string; role: string }[]>(
      `SELECT string_agg(privilege_type, ', ') AS privilege, quote_ident(rolname) AS role
         FROM pg_class CROSS JOIN LATERAL aclexplode(relacl) JOIN pg_roles ON pg_roles.oid = grantee
        WHERE pg_class.oid = $1::regclass AND grantee <> relowner GROUP BY rolname`,
      [table],
    );
    const created = [...parts.map(({ name }) => name), ...(parts.length > 0 ? [table] : [])];
    for (const { privilege, role } of grants) {
      for (const name of created) {
        await transaction.query(`GRANT ${privilege} ON ${target}.${name} TO ${role}`);
      }
    }
  }

  /** Returns the BRIN indexes of a partition that its table does not have. */
  private ownIndexesOf(partition: string): Promise<{ definition: string }[]> {
    return this.query(
      `SELECT substring(pg_get_indexdef(indexrelid) FROM ' (USING brin .*)$') AS definition
         FROM pg_index JOIN pg_class ON oid = indexrelid
        WHERE indrelid = $1::regclass AND relam = (SELECT oid FROM pg_am WHERE amname = 'brin')
          AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = indexrelid)`,
      [partition],
    );
  }

  private async copyAll(): Promise<void> {
    await this.query(
      `INSERT INTO ${this.target}.part (name) SELECT name FROM unnest($1::text[]) name ON CONFLICT DO NOTHING`,
      [await this.days()],
    );
    for (;;) {
      await this.maintain();
      const [part] = await this.query<Part[]>(
        `SELECT name, next_block::int AS "nextBlock" FROM ${this.target}.part WHERE NOT is_complete ORDER BY name LIMIT 1`,
      );
      if (!part) return;
      await this.copy(part);
    }
  }

  private async copy({ name, nextBlock }: Part): Promise<void> {
    const [{ blocks }] = await this.query<[{ blocks: number }]>(
      `SELECT (pg_relation_size($1::regclass) / current_setting('block_size')::int)::int AS blocks`,
      [name],
    );
    const settled = await this.settled();
    for (let first = nextBlock; first < blocks; first += BLOCKS_PER_COPY) {
      const end = Math.min(first + BLOCKS_PER_COPY, blocks);
      await this.dataSource.transaction(async (transaction) => {
        // Citus commits this transaction on all nodes or on none.
        await transaction.query(
          `INSERT INTO ${this.target}.${name} SELECT * FROM ${name}
            WHERE id < ${settled} AND ctid >= '(${first},0)' AND ctid < '(${end},0)'`,
        );
        await transaction.query(`UPDATE ${this.target}.part SET next_block = $2 WHERE name = $1`, [
          name,
          end,
        ]);
      });
      this.options.report(`${name}: copied ${Math.floor((100 * end) / blocks)} %`);
    }
    // Summarizes the BRIN indexes of the shards, without which finding an entry by its ID is slow.
    await this.query(`VACUUM (ANALYZE) ${this.target}.${name}`);
    await this.query(`UPDATE ${this.target}.part SET is_complete = true WHERE name = $1`, [name]);
  }

  /** Copies the rows that were written since the last time. */
  private async catchUp(): Promise<void> {
    const id = await this.settle();
    await this.dataSource.transaction(async (transaction) => {
      await this.copyNew(transaction, `AND id < ${id}`);
      await transaction.query(`UPDATE ${this.target}.progress SET settled_id = $1`, [id]);
    });
  }

  /**
   * Copies rows with IDs above the settled one, by the index on IDs. The default partition is copied only during the exchange,
   * because a rotation between two runs of the command may move its rows.
   */
  private async copyNew(transaction: EntityManager, condition = ''): Promise<void> {
    const { table, target } = this;
    await transaction.query('SET LOCAL enable_seqscan = off');
    await transaction.query(
      `INSERT INTO ${target}.${table} SELECT * FROM ${table}
        WHERE id >= ${await this.settled()} ${condition} AND tableoid <> '${table}_default'::regclass`,
    );
  }

  /** Returns the ID below which all rows are copied, or will be with their blocks. */
  private async settled(): Promise<number> {
    const [{ id }] = await this.query<[{ id: string }]>(
      `SELECT settled_id AS id FROM ${this.target}.progress`,
    );
    return Number(id);
  }

  /** @returns whether all partitions are complete; those that are not will be copied anew */
  private async verify(): Promise<boolean> {
    const settled = await this.settled();
    let isComplete = true;
    for (const name of await this.days()) {
      const countIn = async (relation: string): Promise<number> => {
        const [row] = await this.query<{ count: string }[]>(
          `SELECT count(*) AS count FROM ${relation} WHERE id < ${settled}`,
        );
        return Number(row?.count);
      };
      const [expected, copied] = [await countIn(name), await countIn(`${this.target}.${name}`)];
      if (expected === copied) continue;
      isComplete = false;
      this.options.report(`${name}: ${copied} of ${expected} rows were copied. Copying it again`);
      await this.query(`TRUNCATE ${this.target}.${name}`);
      await this.query(
        `INSERT INTO ${this.target}.part (name) VALUES ($1)
         ON CONFLICT (name) DO UPDATE SET next_block = 0, is_complete = false`,
        [name],
      );
    }
    return isComplete;
  }

  /** Copies the last rows and exchanges the tables, in one transaction. @returns the number of moved rows */
  private async exchange(): Promise<number> {
    this.options.report(`${this.table}: exchanging the tables`);
    const schema = await this.schema();
    const locals = await this.partsOf(schema);
    await withAdvisoryLock(this.address, this.options.readingJob, () =>
      this.withLock(
        this.table,
        async (transaction) => {
          const { table, target, former } = this;
          await this.copyNew(transaction);
          await transaction.query(`INSERT INTO ${target}.${table} SELECT * FROM ${table}_default`);
          for (const name of [...locals, table]) {
            await transaction.query(`ALTER TABLE ${schema}.${name} SET SCHEMA ${former}`);
          }
          // Other partitions follow in `finish`, because this takes some milliseconds for each shard of each.
          for (const name of [`${table}_default`, table]) {
            await transaction.query(`ALTER TABLE ${target}.${name} SET SCHEMA ${schema}`);
          }
        },
        () => this.catchUp(),
      ),
    );
    const [row] = await this.query<{ count: string }[]>(`SELECT count(*) AS count FROM ${this.table}`);
    return Number(row?.count);
  }

  /** Creates and drops partitions as the paused rotation would, unless it would move rows between them. */
  private async maintain(): Promise<void> {
    if (performance.now() - this.maintainedAt < HOUR) return;
    this.maintainedAt = performance.now();
    const { hasMisplacedRows } = await this.partitions.overview(this.table, this.options.now());
    if (!hasMisplacedRows) {
      await this.partitions.rotate(this.table, this.options.now(), { days: this.options.retentionDays });
    }
    const expected = await this.days();
    for (const name of await this.partsOf(this.target)) {
      if (name !== `${this.table}_default` && !expected.includes(name)) {
        await this.query(`DROP TABLE ${this.target}.${name}`);
        await this.query(`DELETE FROM ${this.target}.part WHERE name = $1`, [name]);
      }
    }
    await this.dataSource.transaction((transaction) => this.createParts(transaction));
  }

  /** Returns the names of the partitions of the local table, except the default partition. */
  private async days(): Promise<string[]> {
    const parts = await this.partsOf(await this.schema());
    return parts.filter((name) => name !== `${this.table}_default`);
  }

  private async schema(): Promise<string> {
    const [{ schema }] = await this.query<[{ schema: string }]>(
      'SELECT quote_ident(current_schema()) AS schema',
    );
    return schema;
  }

  /** Returns the names of the partitions of the table in a schema, by default those that are in the same schema. */
  private async partsOf(schema: string, partSchema = schema): Promise<string[]> {
    const rows = await this.query<{ name: string }[]>(
      `SELECT quote_ident(relname) AS name FROM pg_class
        WHERE oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = to_regclass($1))
          AND relnamespace = to_regnamespace($2) ORDER BY relname`,
      [`${schema}.${this.table}`, partSchema],
    );
    return rows.map(({ name }) => name);
  }

  private async exists(relation: string): Promise<boolean> {
    const [row] = await this.query<{ exists: boolean }[]>('SELECT to_regclass($1) IS NOT NULL AS exists', [
      relation,
    ]);
    return row?.exists ?? false;
  }

  private async settle(): Promise<number> {
    const id = await settledId((...parameters) => this.query(...parameters), this.table, SETTLEMENT_TIMEOUT);
    if (id === undefined) {
      throw new OperatorError(
        `A transaction has been writing to ${this.table} for more than ${SETTLEMENT_TIMEOUT / SECOND} s. End it, then run the command again; it continues.`,
      );
    }
    return id;
  }

  /**
   * Runs work in a transaction that locks the table exclusively. Waits only briefly for the lock, because others wait behind
   * it, and retries after a pause.
   */
  private async withLock<Result>(
    table: string,
    work: (transaction: EntityManager) => Promise<Result>,
    beforeRetry: () => Promise<void> = async () => undefined,
  ): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.dataSource.transaction(async (transaction) => {
          await transaction.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
          // Citus changes schemas only through a single connection to each node.
          await transaction.query(`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`);
          await transaction.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
          return work(transaction);
        });
      } catch (error) {
        if (attempt >= MAX_EXCHANGE_ATTEMPTS || !isLockTimeout(error)) throw error;
        await pause(EXCHANGE_RETRY_DELAY);
        await beforeRetry();
      }
    }
  }

  private query<Result>(statement: string, parameters?: unknown[]): Promise<Result> {
    return this.dataSource.query(statement, parameters);
  }
}
