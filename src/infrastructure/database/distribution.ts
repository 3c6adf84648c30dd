import { DataSource } from 'typeorm';
import { OperatorError } from '../errors/index.js';
import { SECOND } from '../time/index.js';
import { DISTRIBUTED_TABLES, type DatabaseConfiguration } from './database.configuration.js';
import { checkDatabase, withDatabase } from './migrate.js';
import { roleOf } from './database-address.js';

/** The database is not distributed as `DATABASE_DISTRIBUTION` says. */
class DistributionError extends OperatorError {}

/**
 * Checks that the database is distributed as configured. Reads only the metadata of the coordinator, so a process can start
 * while a worker node is down.
 *
 * Does nothing without `DATABASE_DISTRIBUTION`: distributed tables are harmless then, because all statements are the same, and
 * during a move processes run that were started before.
 *
 * @throws DistributionError if the cluster cannot be used, or a table is not distributed yet
 */
export async function checkDistribution({
  url = '',
  authority,
  distribution,
}: DatabaseConfiguration): Promise<void> {
  if (distribution === 'none') return;
  await withDatabase({ url, authority }, 0, async (dataSource) => {
    await requireCluster(dataSource);
    const tables = await distributedTables(dataSource);
    const missing = DISTRIBUTED_TABLES.filter(({ table }) => !tables.includes(table));
    if (missing.length > 0) {
      throw new DistributionError(
        `DATABASE_DISTRIBUTION is citus, but not all tables are distributed yet: ${missing.map(({ table }) => table).join(', ')}. Run "mcs-admin database distribute".`,
      );
    }
  });
}

/**
 * Lets every node of the cluster connect to every node, itself included, with the roles of `DATABASE_URL` and
 * `DATABASE_OWNER_URL`.
 *
 * @returns a sentence for each connection that fails
 */
export async function failedNodeConnections({
  url = '',
  ownerUrl = url,
  authority,
}: Pick<DatabaseConfiguration, 'url' | 'ownerUrl' | 'authority'>): Promise<string[]> {
  const problems: string[] = [];
  for (const address of new Set([url, ownerUrl])) {
    await withDatabase({ url: address, authority }, 0, async (dataSource) => {
      const failed = await dataSource.query<Record<'from' | 'to', string>[]>(
        `SELECT from_nodename || ':' || from_nodeport AS "from", to_nodename || ':' || to_nodeport AS "to"
           FROM citus_check_cluster_node_health() WHERE result IS NOT TRUE ORDER BY 1, 2`,
      );
      const role = roleOf(address) ?? 'the default role';
      problems.push(...failed.map(({ from, to }) => `${from} cannot connect to ${to} as ${role}.`));
    });
  }
  return problems;
}

/**
 * @returns the number of nodes that store shards
 * @throws DistributionError if the database lacks the extension or an active worker node
 */
async function requireCluster(dataSource: DataSource): Promise<number> {
  if (!(await hasCitus(dataSource))) {
    throw new DistributionError(
      'The database does not have the extension citus. Run "CREATE EXTENSION citus" in the database of every node, or set DATABASE_DISTRIBUTION=none.',
    );
  }
  const nodes = await dataSource.query<object[]>(
    `SELECT FROM pg_dist_node WHERE isactive AND shouldhaveshards AND noderole = 'primary'`,
  );
  if (nodes.length === 0) {
    throw new DistributionError(
      'The cluster has no active worker node that stores shards. Add one with "SELECT citus_add_node(host, port)" on the coordinator, or set DATABASE_DISTRIBUTION=none.',
    );
  }
  return nodes.length;
}

async function distributedTables(dataSource: DataSource): Promise<string[]> {
  const rows = await dataSource.query<{ name: string }[]>(
    `SELECT name FROM unnest($1::text[]) name
       JOIN pg_dist_partition ON logicalrelid = to_regclass(quote_ident(name)) AND partmethod = 'h'`,
    [DISTRIBUTED_TABLES.map(({ table }) => table)],
  );
  return rows.map(({ name }) => name);
}

async function hasCitus(dataSource: DataSource): Promise<boolean> {
  const rows = await dataSource.query<object[]>(`SELECT FROM pg_extension WHERE extname = 'citus'`);
  return rows.length > 0;
}

export interface DistributedTableReport {
  readonly table: string;
  readonly column: string;
  readonly shards: number;
  /** For how long nobody could read or write the table. */
  readonly seconds: number;
}

export interface DistributeOptions {
  /** Number of shards of each partition; the default is 4 for each node that stores shards. */
  readonly shards?: number | undefined;
  readonly report: (sentence: string) => void;
}

/**
 * The default number of shards for each node. A batch of entries is written to many shards at once, so fewer shards are
 * faster: with 50 clients, 82,000 entries per second with 4 shards and 36,000 with 32. More shards let the cluster grow.
 */
const SHARDS_PER_NODE = 4;

/**
 * Distributes the tables that are not distributed yet, with the role that owns them, while no process writes to them. Can be
 * repeated: Citus copies a table in one transaction.
 *
 * @throws OperatorError if the database is not up to date, the cluster is not ready, or the service is running on a filled table
 */
export async function distribute(
  { url = '', ownerUrl = url, authority }: DatabaseConfiguration,
  { shards, report }: DistributeOptions,
): Promise<DistributedTableReport[]> {
  await checkDatabase(ownerUrl, authority);
  // A single connection, so that all others are those of the service.
  const options = { url: ownerUrl, authority, poolSize: 1 };
  return withDatabase(options, 0, async (dataSource) => {
    const nodes = await requireCluster(dataSource);
    const distributed = await distributedTables(dataSource);
    const reports: DistributedTableReport[] = [];
    for (const { table, column } of DISTRIBUTED_TABLES) {
      const start = performance.now();
      if (!distributed.includes(table)) {
        await refuseWriters(dataSource, table);
        report(`Distributing ${table}. Until this ends, nobody can read or write it.`);
        await createDistributedTable(dataSource, report, [table, column, shards ?? SHARDS_PER_NODE * nodes]);
      }
      // Citus leaves the copied rows on the coordinator. Repeated if the command was interrupted.
      await dataSource.query(
        `SELECT truncate_local_data_after_distributing_table(inhrelid::regclass)
           FROM pg_inherits WHERE inhparent = $1::regclass`,
        [table],
      );
      const seconds = Math.round((performance.now() - start) / SECOND);
      reports.push({ table, column, shards: await shardsOf(dataSource, table), seconds });
    }
    return reports;
  });
}

async function refuseWriters(dataSource: DataSource, table: string): Promise<void> {
  const [state] = await dataSource.query<{ hasRows: boolean; connections: number }[]>(
    `SELECT EXISTS (SELECT FROM ${table}) AS "hasRows",
            (SELECT count(*)::integer FROM pg_stat_activity
              WHERE datname = current_database() AND pid <> pg_backend_pid()
                AND application_name LIKE 'merchant-connectivity-service%') AS connections`,
  );
  if (state?.hasRows && state.connections > 0) {
    throw new OperatorError(
      `${table} has rows, and the service has ${state.connections} connections to the database. Stop all its processes first: they could not read or write the table while its rows are copied.`,
    );
  }
}

/** Runs the function of Citus, and reports what it says about its progress. */
async function createDistributedTable(
  dataSource: DataSource,
  report: DistributeOptions['report'],
  parameters: unknown[],
): Promise<void> {
  const runner = dataSource.createQueryRunner();
  const client: NodeJS.EventEmitter = await runner.connect();
  const start = performance.now();
  const onNotice = ({ message }: Error): void =>
    report(`${Math.round((performance.now() - start) / SECOND)} s: ${message}`);
  client.on('notice', onNotice);
  try {
    await runner.query(
      `SELECT create_distributed_table($1::regclass, $2, colocate_with => 'none', shard_count => $3::int)`,
      parameters,
    );
  } finally {
    client.off('notice', onNotice);
    await runner.release();
  }
}

async function shardsOf(dataSource: DataSource, table: string): Promise<number> {
  const [row] = await dataSource.query<{ shards: number }[]>(
    'SELECT count(*)::int AS shards FROM pg_dist_shard WHERE logicalrelid = $1::regclass',
    [table],
  );
  return row?.shards ?? 0;
}
