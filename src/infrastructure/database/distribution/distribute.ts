import { DataSource } from 'typeorm';
import { withAdvisoryLock } from '../advisory-lock.js';
import { driverAddress } from '../database-address.js';
import { DISTRIBUTED_TABLES, type DatabaseConfiguration } from '../database.configuration.js';
import { checkDatabase, withDatabase } from '../migrate.js';
import { distributedTables, requireCluster } from './check-distribution.js';
import { TableMove, type TableMoveOptions } from './table-move.js';

export interface DistributedTableReport {
  readonly table: string;
  readonly column: string;
  readonly shards: number;
  readonly moved: number;
}

/**
 * The default number of shards for each node. A batch of entries is written to many shards at once, so fewer shards are
 * faster: with 50 clients, 82,000 entries per second with 4 shards and 36,000 with 32. More shards let the cluster grow.
 */
const SHARDS_PER_NODE = 4;

export type DistributeOptions = Omit<TableMoveOptions, 'column' | 'shards'> & {
  /** Number of shards of each partition; the default is 4 for each node that stores shards. */
  readonly shards?: number | undefined;
  /** The job that changes the partitions, which is paused. */
  readonly rotationJob: string;
};

/**
 * Distributes the tables that are not distributed yet, with the role that owns them, while the service writes to them. Can be
 * repeated: an interrupted move is continued.
 *
 * @throws OperatorError if the database is not up to date, or the cluster is not ready
 */
export async function distribute(
  { url = '', ownerUrl = url, authority }: DatabaseConfiguration,
  { rotationJob, shards, ...options }: DistributeOptions,
): Promise<DistributedTableReport[]> {
  await checkDatabase(ownerUrl, authority);
  const address = { url: ownerUrl, authority };
  return withDatabase(address, 0, (dataSource) =>
    // Partitions must stay the same during the move. A second command waits here.
    withAdvisoryLock(driverAddress(address), rotationJob, async () => {
      const nodes = await requireCluster(dataSource);
      const reports: DistributedTableReport[] = [];
      for (const { table, column } of DISTRIBUTED_TABLES) {
        const move = new TableMove(dataSource, driverAddress(address), table, {
          ...options,
          column,
          shards: shards ?? SHARDS_PER_NODE * nodes,
        });
        const isDistributed = (await distributedTables(dataSource)).includes(table);
        const moved = isDistributed ? 0 : await move.run();
        await move.finish();
        reports.push({ table, column, shards: await shardsOf(dataSource, table), moved });
      }
      return reports;
    }),
  );
}

async function shardsOf(dataSource: DataSource, table: string): Promise<number> {
  const [row] = await dataSource.query<{ shards: number }[]>(
    'SELECT count(*)::int AS shards FROM pg_dist_shard WHERE logicalrelid = $1::regclass',
    [table],
  );
  return row?.shards ?? 0;
}
