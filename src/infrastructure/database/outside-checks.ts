import { Injectable } from '@nestjs/common';
import { Clock } from '../time/index.js';
import { hasCome } from './due-time.js';
import { KeyedQueue } from '../queues/index.js';
import { Transaction } from './transaction.js';

const CHECKS_PER_RUN = 1_000;
/** So that an organization whose servers do not respond does not keep those of others from being asked in the same run. */
const CHECKS_OF_ORGANIZATION = 50;
const CONCURRENT_CHECKS = 20;

/** Rows of organizations that are compared with something outside of the service from time to time. */
export interface CheckedRows {
  readonly table: string;
  /** SQL for the rows that are checked. */
  readonly condition: string;
  /** The column with the time of the last check that had a result. */
  readonly checkedAt: string;
  /** The column with the time of the last attempt. */
  readonly attemptedAt: string;
  /** Milliseconds between two checks. */
  readonly interval: number;
}

interface CheckRun {
  readonly check: (id: string) => Promise<void>;
  readonly report: (error: unknown) => void;
  readonly stopped: AbortSignal;
}

/**
 * Checks rows with the help of servers of organizations, which may never respond. The rows whose last attempt is the longest ago come
 * first, so that those whose checks never have a result do not keep the others waiting.
 */
@Injectable()
export class OutsideChecks {
  private readonly queue = new KeyedQueue(CONCURRENT_CHECKS);

  constructor(
    private readonly transaction: Transaction,
    private readonly clock: Clock,
  ) {}

  /** Checks the rows that are due. A check that fails is reported, and repeated in the next run. */
  async run(rows: CheckedRows, { check, report, stopped }: CheckRun): Promise<void> {
    const attempt = async (id: string): Promise<void> => {
      if (stopped.aborted) return;
      await this.transaction.manager.query(
        `UPDATE ${rows.table} SET ${rows.attemptedAt} = $2 WHERE id = $1`,
        [id, this.clock.now()],
      );
      await check(id);
    };
    const ids = await this.due(rows);
    await Promise.all(ids.map((id) => this.queue.run(rows.table, () => attempt(id).catch(report))));
  }

  private async due({ table, condition, checkedAt, attemptedAt, interval }: CheckedRows): Promise<string[]> {
    const now = this.clock.now();
    // An attempt in the future was stored while a clock was ahead.
    const found = await this.transaction.manager.query<{ id: string }[]>(
      `SELECT id FROM (
         SELECT id, attempted_at, row_number() OVER (PARTITION BY organization_id ORDER BY attempted_at NULLS FIRST, id) AS turn
           FROM (SELECT id, organization_id, CASE WHEN ${attemptedAt} <= $1 THEN ${attemptedAt} END AS attempted_at
                   FROM ${table} WHERE ${condition} AND ${hasCome(checkedAt, 0, '$1', '$2')}) checked) due
        WHERE turn <= ${CHECKS_OF_ORGANIZATION} ORDER BY attempted_at NULLS FIRST, id LIMIT ${CHECKS_PER_RUN}`,
      [now, new Date(now.getTime() - interval)],
    );
    return found.map(({ id }) => id);
  }
}
