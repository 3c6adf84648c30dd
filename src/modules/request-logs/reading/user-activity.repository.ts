import { Injectable } from '@nestjs/common';
import { settledId, Transaction } from '../../../infrastructure/database/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';

/** How long to wait for the transactions that are writing entries. */
const SETTLEMENT_TIMEOUT = 5 * SECOND;

/** The activity of a user on a day, as far as some entries show it. */
export interface UserActivity {
  readonly clientId: string;
  readonly externalUserId: string;
  /** The time of the newest entry. */
  readonly createdAt: Date;
  /** The start of the day in UTC. */
  readonly day: Date;
  readonly failures: number;
}

/** Finds the users that the log names. */
@Injectable()
export class UserActivityRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Returns an ID such that every entry with a smaller one is committed, or never will be; undefined if that takes too long. */
  settledId(): Promise<number | undefined> {
    return settledId(
      (statement, parameters) => this.transaction.manager.query(statement, parameters),
      'request_log',
      SETTLEMENT_TIMEOUT,
    );
  }

  /**
   * Returns an ID such that no entry has a smaller one, and the first entry has one that is at most `distance` larger. Asks for halves of
   * ranges, for which there is a BRIN index: reading a day for its smallest ID could take longer than a statement may.
   */
  async idBeforeFirst(settledId: number, distance: number): Promise<number> {
    const { manager } = this.transaction;
    await manager.query('SET LOCAL enable_seqscan = off');
    let before = 0;
    let last = settledId;
    while (last - before > distance) {
      const middle = Math.floor((before + last) / 2);
      const found = await manager.query<object[]>(
        'SELECT FROM request_log WHERE id > $1 AND id <= $2 LIMIT 1',
        [before, middle],
      );
      if (found.length > 0) last = middle;
      else before = middle;
    }
    await manager.query('SET LOCAL enable_seqscan = on');
    return before;
  }

  /** Summarizes the entries of users with IDs above `seenId`, up to `upToId`. */
  async between(seenId: number, upToId: number): Promise<UserActivity[]> {
    // For the range of IDs there is a BRIN index.
    return this.transaction.manager.query<UserActivity[]>(
      `SELECT client_id AS "clientId", external_user_id AS "externalUserId", max(created_at) AS "createdAt",
              date_trunc('day', created_at, 'UTC') AS day,
              (count(*) FILTER (WHERE status_code >= 400 OR type = 'webhook' AND status_code <> 200))::int AS failures
         FROM request_log
        WHERE id > $1 AND id <= $2 AND external_user_id IS NOT NULL AND NOT starts_with(external_user_id, 'erased_')
        GROUP BY 1, 2, 4`,
      [seenId, upToId],
    );
  }
}
