import { Injectable } from '@nestjs/common';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { Transaction } from '../../infrastructure/database/index.js';
import { UserErasure } from './user-erasure.entity.js';

/** Identifies a user, whom the table names by a pseudonym. */
type PseudonymousUser = Pick<UserErasure, 'clientId' | 'pseudonym'>;

export type NewErasure = Pick<
  UserErasure,
  'id' | 'clientId' | 'pseudonym' | 'externalUserIdSealed' | 'requestedAt'
>;

/** An erasure that the calling process works on. */
export interface ClaimedErasure extends Pick<UserErasure, 'id' | 'clientId' | 'pseudonym' | 'requestedAt'> {
  readonly externalUserIdSealed: Buffer;
  readonly environment: PlatformEnvironment;
}

@Injectable()
export class UserErasuresRepository {
  constructor(private readonly transaction: Transaction) {}

  /**
   * Adds an erasure. One of the same user that is still running has to start over; a finished one is replaced. A process that works on
   * the running one keeps it until its lease ends.
   *
   * @returns the ID of the erasure, which belongs to the user
   */
  async add({ id, clientId, pseudonym, externalUserIdSealed, requestedAt }: NewErasure): Promise<string> {
    const [row] = await this.transaction.manager.query<[{ id: string }]>(
      `INSERT INTO user_erasure AS erasure (id, client_id, pseudonym, external_user_id_sealed, requested_at, due_at)
       VALUES ($1, $2, $3, $4, $5, $5)
       ON CONFLICT (client_id, pseudonym) DO UPDATE
          SET id = CASE WHEN erasure.finished_at IS NULL THEN erasure.id ELSE excluded.id END,
              external_user_id_sealed = CASE WHEN erasure.finished_at IS NULL THEN erasure.external_user_id_sealed
                                             ELSE excluded.external_user_id_sealed END,
              due_at = CASE WHEN erasure.finished_at IS NULL THEN erasure.due_at ELSE excluded.due_at END,
              erased = CASE WHEN erasure.finished_at IS NULL THEN erasure.erased ELSE 0 END,
              requested_at = GREATEST(erasure.requested_at + interval '1 millisecond', excluded.requested_at),
              finished_at = NULL
       RETURNING id`,
      [id, clientId, pseudonym, externalUserIdSealed, requestedAt],
    );
    return row.id;
  }

  async findAll(users: readonly PseudonymousUser[]): Promise<UserErasure[]> {
    return this.transaction.manager.query<UserErasure[]>(
      `SELECT client_id AS "clientId", pseudonym, finished_at AS "finishedAt" FROM user_erasure
        WHERE (client_id, pseudonym) IN (SELECT * FROM unnest($1::uuid[], $2::text[]))`,
      [users.map(({ clientId }) => clientId), users.map(({ pseudonym }) => pseudonym)],
    );
  }

  /** Returns the erasure that has been due for the longest time, and keeps it from other processes until `dueAt`. */
  async claim(now: Date, dueAt: Date): Promise<ClaimedErasure | undefined> {
    const [claimed] = await this.transaction.changedRows<ClaimedErasure>(
      `UPDATE user_erasure SET due_at = $2
        WHERE id = (SELECT id FROM user_erasure WHERE finished_at IS NULL AND due_at <= $1
                     ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING id, client_id AS "clientId", pseudonym, requested_at AS "requestedAt",
                  external_user_id_sealed AS "externalUserIdSealed",
                  (SELECT environment FROM api_client WHERE api_client.id = client_id) AS environment`,
      [now, dueAt],
    );
    return claimed;
  }

  /** Counts erased rows. @param dueAt the new end of the lease, if the process has one */
  async progress(id: string, erased: number, dueAt: Date | undefined): Promise<void> {
    await this.transaction.manager.query(
      'UPDATE user_erasure SET erased = erased + $2, due_at = COALESCE($3::timestamptz, due_at) WHERE id = $1',
      [id, erased, dueAt],
    );
  }

  /** Removes an identifier from the statistics of the planner, which contain values of rows that no longer exist. */
  async forgetStatistics(externalUserId: string): Promise<void> {
    await this.transaction.manager.query('SELECT forget_statistics($1)', [externalUserId]);
  }

  async postpone(id: string, dueAt: Date): Promise<void> {
    await this.transaction.manager.update(UserErasure, { id }, { dueAt });
  }
}
