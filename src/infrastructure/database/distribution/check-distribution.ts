import type { DataSource } from 'typeorm';
import { OperatorError } from '../../errors/index.js';
import { roleOf } from '../database-address.js';
import { DISTRIBUTED_TABLES, type DatabaseConfiguration } from '../database.configuration.js';
import { withDatabase } from '../migrate.js';

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
        `DATABASE_DISTRIBUTION is citus, but not all tables are distributed yet: ${missing.map(({ table }) => table).join(', ')}. Run "npm run cli -- database distribute".`,
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
export async function requireCluster(dataSource: DataSource): Promise<number> {
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

/** Returns the listed tables that are distributed. */
export async function distributedTables(dataSource: DataSource): Promise<string[]> {
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
