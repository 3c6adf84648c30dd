import pg from 'pg';
import { DataSource } from 'typeorm';
import { CLAIM_DELIVERIES } from '../../../src/modules/webhooks/queue/sql/claim-deliveries.js';
import { LOCK_DUE_LANES } from '../../../src/modules/webhooks/queue/sql/lock-due-lanes.js';
import {
  SETTLE_ATTEMPTS,
  SETTLE_UNLOGGED_ATTEMPTS,
} from '../../../src/modules/webhooks/queue/sql/settle-attempts.js';
import { useTestApp } from '../../support/test-app.js';

/*
 * PostgreSQL plans a prepared statement once, often while the queue is empty, and keeps that plan while a long queue builds up.
 * docs/decisions/0032-plans-for-a-long-queue.md
 */

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

const SCANS = new Set(['Seq Scan', 'Index Scan', 'Index Only Scan', 'Bitmap Index Scan']);

/** Returns the scans that do not look up rows by an index. A bitmap heap scan reads the rows that its index scans found. */
function fullScans(node: PlanNode): string[] {
  const relation = node['Relation Name'] ?? node['Index Name'];
  const isFull = relation !== undefined && !node['Index Cond'] && SCANS.has(node['Node Type']);
  return [
    ...(isFull ? [`${node['Node Type']} on ${relation}`] : []),
    ...(node.Plans ?? []).flatMap(fullScans),
  ];
}

const service = useTestApp();

describe.each([
  ['LOCK_DUE_LANES', LOCK_DUE_LANES],
  ['CLAIM_DELIVERIES', CLAIM_DELIVERIES],
  ['SETTLE_ATTEMPTS', SETTLE_ATTEMPTS],
  ['SETTLE_UNLOGGED_ATTEMPTS', SETTLE_UNLOGGED_ATTEMPTS],
])('%s', (_, { text }) => {
  it('looks up deliveries and lanes by an index, although it was planned for an empty queue', async () => {
    const dataSource = service.app.get(DataSource);
    await dataSource.query('VACUUM (ANALYZE) webhook_delivery, webhook_lane');
    const scans = await dataSource.transaction(async (manager) => {
      await manager.query('SET LOCAL plan_cache_mode = force_generic_plan');
      await manager.query(`PREPARE planned AS ${text}`);
      const count = new Set(text.match(/\$\d+/g)).size;
      const values = Array.from({ length: count }, () => 'NULL').join(', ');
      const [explained] = await manager.query<[{ 'QUERY PLAN': [{ Plan: PlanNode }] }]>(
        `EXPLAIN (FORMAT JSON) EXECUTE planned (${values})`,
      );
      await manager.query('DEALLOCATE planned');
      return fullScans(explained['QUERY PLAN'][0].Plan);
    });
    expect(scans).toEqual([]);
  });

  it('leaves the settings of its session as they were', async () => {
    const session = new pg.Client({ connectionString: service.database.url });
    await session.connect();
    try {
      await session.query(`PREPARE planned AS ${text}`);
      const values = Array.from({ length: new Set(text.match(/\$\d+/g)).size }, () => 'NULL').join(', ');
      const settings = `SELECT current_setting('enable_seqscan') AS scans, current_setting('lock_timeout') AS timeout`;
      const { rows: before } = await session.query(settings);
      // As the service does, without a transaction around it.
      await session.query(`EXECUTE planned (${values})`);
      expect((await session.query(settings)).rows).toEqual(before);
    } finally {
      await session.end();
    }
  });
});
