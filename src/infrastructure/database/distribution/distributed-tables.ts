export const DISTRIBUTIONS = ['none', 'citus'] as const;
export type Distribution = (typeof DISTRIBUTIONS)[number];

export interface DistributedTable {
  readonly table: string;
  /** Rows with the same value are on the same node. */
  readonly column: string;
}

/**
 * The tables that `DATABASE_DISTRIBUTION=citus` spreads over the nodes: only the request log, which is most of all data and of
 * all writes. Each is partitioned by day, and has IDs from a sequence `<table>_id_seq`.
 */
export const DISTRIBUTED_TABLES: readonly DistributedTable[] = [
  { table: 'request_log', column: 'client_id' },
];
