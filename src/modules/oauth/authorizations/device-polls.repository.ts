import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { BatchedStatement } from '../../../infrastructure/database/index.js';
import { AUTHORIZATION, type ChangedAuthorization } from './device-authorizations.repository.js';

export interface DevicePoll {
  readonly deviceCodeHash: Buffer;
  readonly clientId: string;
  readonly now: Date;
}

/** What a poll found. */
export interface PolledAuthorization extends ChangedAuthorization {
  readonly expiresAt: Date;
  /** How the poll was taken; null of a request that does not wait any more. */
  readonly early: boolean | null;
  /** What the device has to wait from now on. */
  readonly intervalSeconds: number | null;
}

interface RedeemedCode {
  readonly id: string;
  readonly now: Date;
}

/** Of the announced interval, what must really have passed: the network is not as even as a device's clock. */
const ENFORCED_SHARE = 0.8;
/** Seconds. */
const INTERVAL_STEP = 5;
const MAX_INTERVAL = 30;

const ROWS_PER_STATEMENT = 100;
const STATEMENTS_AT_ONCE = 2;

/**
 * What devices do by themselves, of which there are many and which ask again and again: those that ask at the same
 * time share a statement. It belongs to no transaction of theirs.
 */
@Injectable()
export class DevicePollsRepository {
  private readonly polls = new BatchedStatement<DevicePoll, PolledAuthorization | undefined>({
    execute: (polls) => this.takeEach(polls),
    maxRows: ROWS_PER_STATEMENT,
    maxStatements: STATEMENTS_AT_ONCE,
  });
  private readonly redemptions = new BatchedStatement<RedeemedCode, boolean>({
    execute: (codes) => this.redeemAll(codes),
    maxRows: ROWS_PER_STATEMENT,
    maxStatements: STATEMENTS_AT_ONCE,
  });

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Finds the request and takes the poll of a device that waits, in one statement, so that of two at once one is
   * early. One that is early raises the interval and does not move the mark: a device that is only impatient is
   * not held up for good.
   */
  poll(poll: DevicePoll): Promise<PolledAuthorization | undefined> {
    return this.polls.add(poll);
  }

  /** @returns whether it was this call that redeemed it */
  redeem(id: string, now: Date): Promise<boolean> {
    return this.redemptions.add({ id, now });
  }

  /** A statement takes one poll of a code: a second one that came with it is taken after it. */
  private async takeEach(polls: readonly DevicePoll[]): Promise<(PolledAuthorization | undefined)[]> {
    const rounds: Map<string, DevicePoll>[] = [];
    for (const poll of polls) {
      const code = poll.deviceCodeHash.toString('base64');
      let round = rounds.find((each) => !each.has(code));
      if (!round) rounds.push((round = new Map()));
      round.set(code, poll);
    }
    const found = new Map<DevicePoll, PolledAuthorization>();
    for (const round of rounds) await this.takeAll([...round.values()], found);
    return polls.map((poll) => found.get(poll));
  }

  /** Rows are locked in the order of their ids, so that the statements of several processes never wait in a circle. */
  private async takeAll(
    polls: readonly DevicePoll[],
    found: Map<DevicePoll, PolledAuthorization>,
  ): Promise<void> {
    const tooEarly = `mark.accepted_at + mark.interval_seconds * ${ENFORCED_SHARE} * interval '1 second' > excluded.accepted_at`;
    const rows = await this.dataSource.query<({ place: number } & PolledAuthorization)[]>(
      `WITH request AS (
         SELECT device_authorization.*, now, place
           FROM unnest($1::bytea[], $2::uuid[], $3::timestamptz[]) WITH ORDINALITY
                AS asked (device_code_hash, client_id, now, place)
           JOIN device_authorization USING (device_code_hash, client_id)
       ), poll AS (
         INSERT INTO device_poll AS mark (authorization_id, accepted_at, interval_seconds, early)
         SELECT id, now, interval_seconds, false FROM request
          WHERE status = 'pending' AND expires_at > now ORDER BY id
         ON CONFLICT (authorization_id) DO UPDATE
            SET early = ${tooEarly},
                accepted_at = CASE WHEN ${tooEarly} THEN mark.accepted_at ELSE excluded.accepted_at END,
                interval_seconds = CASE WHEN ${tooEarly}
                                        THEN LEAST(mark.interval_seconds + ${INTERVAL_STEP}, ${MAX_INTERVAL})
                                        ELSE mark.interval_seconds END
         RETURNING authorization_id, early, interval_seconds
       )
       SELECT ${AUTHORIZATION}, expires_at AS "expiresAt", poll.early, poll.interval_seconds AS "intervalSeconds",
              place::integer
         FROM request LEFT JOIN poll ON authorization_id = id`,
      [
        polls.map((poll) => poll.deviceCodeHash),
        polls.map((poll) => poll.clientId),
        polls.map((poll) => poll.now),
      ],
    );
    for (const { place, ...authorization } of rows) {
      const poll = polls[place - 1];
      if (poll) found.set(poll, authorization);
    }
  }

  /** Of several who come with the same code the first one has it. */
  private async redeemAll(codes: readonly RedeemedCode[]): Promise<boolean[]> {
    const [rows] = await this.dataSource.query<[{ id: string }[], number]>(
      `UPDATE device_authorization SET status = 'redeemed'
        WHERE id IN (SELECT id FROM device_authorization
                       JOIN unnest($1::uuid[], $2::timestamptz[]) AS code (id, now) USING (id)
                      WHERE status = 'approved' AND expires_at > now
                      ORDER BY id FOR UPDATE OF device_authorization)
       RETURNING id`,
      [codes.map((code) => code.id), codes.map((code) => code.now)],
    );
    const redeemed = new Set(rows.map((row) => row.id));
    return codes.map((code) => redeemed.delete(code.id));
  }
}
