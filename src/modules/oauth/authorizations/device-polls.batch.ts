import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { BatchedStatement, inPositions, type Positioned } from '../../../infrastructure/database/index.js';
import type { DevicePollState } from './device-authorization.entity.js';
import { RETURNED_COLUMNS, type AuthorizationRow } from './device-authorizations.repository.js';

export interface DevicePoll {
  readonly deviceCodeHash: Buffer;
  readonly clientId: string;
  readonly now: Date;
}

export interface PolledAuthorization extends AuthorizationRow {
  readonly expiresAt: Date;
  /** Whether a pending code was polled too early; null when the code is not pending. */
  readonly early: DevicePollState['early'] | null;
  /** Seconds between polls from now on; null when the code is not pending. */
  readonly intervalSeconds: number | null;
}

interface Redemption {
  readonly id: string;
  readonly now: Date;
}

/** The share of the announced interval that is enforced, because network latency varies. */
const ENFORCED_SHARE = 0.8;
/** Seconds that an early poll adds to the interval. */
const INTERVAL_STEP = 5;
/** Seconds. */
const MAX_INTERVAL = 30;

const ROWS_PER_STATEMENT = 100;
const CONCURRENT_STATEMENTS = 2;

/**
 * Runs the statements for polling devices. Concurrent polls share one statement, and so do concurrent redemptions, so
 * these statements run on their own connection and never join an open transaction. For measurements, see
 * docs/decisions/0002-batched-statements.md.
 */
@Injectable()
export class DevicePollsBatch {
  /**
   * Finds an authorization and, while it is pending, records the poll in the same statement, so that one of two
   * concurrent polls counts as early. An early poll raises the interval but does not move the time of the last
   * accepted poll; otherwise an impatient device would never be accepted.
   */
  readonly polls = new BatchedStatement<DevicePoll, PolledAuthorization | undefined>({
    execute: (polls) => this.pollAll(polls),
    maxRows: ROWS_PER_STATEMENT,
    maxStatements: CONCURRENT_STATEMENTS,
  });
  /** Marks an approved authorization as redeemed. Returns whether this request redeemed it. */
  readonly redemptions = new BatchedStatement<Redemption, boolean>({
    execute: (redemptions) => this.redeemAll(redemptions),
    maxRows: ROWS_PER_STATEMENT,
    maxStatements: CONCURRENT_STATEMENTS,
  });

  constructor(private readonly dataSource: DataSource) {}

  /** A statement can record one poll per code, so a second poll of the same code goes into the next statement. */
  private async pollAll(polls: readonly DevicePoll[]): Promise<(PolledAuthorization | undefined)[]> {
    const rounds: Map<string, DevicePoll>[] = [];
    for (const poll of polls) {
      const code = poll.deviceCodeHash.toString('base64');
      let round = rounds.find((candidate) => !candidate.has(code));
      if (!round) rounds.push((round = new Map()));
      round.set(code, poll);
    }
    const found = new Map<DevicePoll, PolledAuthorization | undefined>();
    for (const round of rounds) {
      const distinct = [...round.values()];
      const polled = await this.pollDistinct(distinct);
      for (const [index, poll] of distinct.entries()) found.set(poll, polled[index]);
    }
    return polls.map((poll) => found.get(poll));
  }

  /** Rows are locked in the order of their IDs, so that concurrent statements cannot deadlock. */
  private async pollDistinct(polls: readonly DevicePoll[]): Promise<(PolledAuthorization | undefined)[]> {
    const isEarly = `previous.accepted_at + previous.interval_seconds * ${ENFORCED_SHARE} * interval '1 second' > excluded.accepted_at`;
    const rows = await this.dataSource.query<(PolledAuthorization & Positioned)[]>(
      `WITH polled AS (
         SELECT device_authorization.*, now, position
           FROM unnest($1::bytea[], $2::uuid[], $3::timestamptz[]) WITH ORDINALITY
                AS input (device_code_hash, client_id, now, position)
           JOIN device_authorization USING (device_code_hash, client_id)
       ), poll AS (
         INSERT INTO device_poll AS previous (authorization_id, accepted_at, interval_seconds, early)
         SELECT id, now, interval_seconds, false FROM polled
          WHERE status = 'pending' AND expires_at > now ORDER BY id
         ON CONFLICT (authorization_id) DO UPDATE
            SET early = ${isEarly},
                accepted_at = CASE WHEN ${isEarly} THEN previous.accepted_at ELSE excluded.accepted_at END,
                interval_seconds = CASE WHEN ${isEarly}
                                        THEN LEAST(previous.interval_seconds + ${INTERVAL_STEP}, ${MAX_INTERVAL})
                                        ELSE previous.interval_seconds END
         RETURNING authorization_id, early, interval_seconds
       )
       SELECT ${RETURNED_COLUMNS}, expires_at AS "expiresAt", poll.early,
              poll.interval_seconds AS "intervalSeconds", position::integer
         FROM polled LEFT JOIN poll ON authorization_id = id`,
      [
        polls.map((poll) => poll.deviceCodeHash),
        polls.map((poll) => poll.clientId),
        polls.map((poll) => poll.now),
      ],
    );
    return inPositions(polls, rows);
  }

  /** If several requests redeem the same code, the first one in the batch succeeds. */
  private async redeemAll(redemptions: readonly Redemption[]): Promise<boolean[]> {
    const [rows] = await this.dataSource.query<[{ id: string }[], number]>(
      `UPDATE device_authorization SET status = 'redeemed', redeemed_at = approved.now
         FROM (SELECT id, now FROM device_authorization
                 JOIN unnest($1::uuid[], $2::timestamptz[]) AS code (id, now) USING (id)
                WHERE status = 'approved' AND expires_at > now
                ORDER BY id FOR UPDATE OF device_authorization) AS approved
        WHERE device_authorization.id = approved.id
       RETURNING device_authorization.id`,
      [redemptions.map(({ id }) => id), redemptions.map(({ now }) => now)],
    );
    const redeemed = new Set(rows.map(({ id }) => id));
    return redemptions.map(({ id }) => redeemed.delete(id));
  }
}
