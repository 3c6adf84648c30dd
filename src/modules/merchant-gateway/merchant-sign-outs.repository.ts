import { Injectable } from '@nestjs/common';
import { hasCome, Transaction } from '../../infrastructure/database/index.js';
import { MerchantSignOut } from './merchant-sign-out.entity.js';

/** A sign-in to undo; null if there was none. */
export interface SignOut {
  readonly clientId: string;
  readonly signInId: string | null;
  /** When the last request about the sign-in was sent, if its response may still arrive. */
  readonly askedAt?: Date | null;
}

/** Stores the sign-ins that the gateway has to end. `MerchantSignOutsJob` sends the requests. */
@Injectable()
export class MerchantSignOutsRepository {
  constructor(private readonly transaction: Transaction) {}

  async add(signIns: readonly SignOut[], createdAt: Date): Promise<void> {
    // Each once: a user can sign in to several merchants in one session.
    const byId = new Map(
      signIns.flatMap(({ clientId, signInId, askedAt = null }) =>
        signInId === null ? [] : [[signInId, { clientId, signInId, createdAt, askedAt }] as const],
      ),
    );
    const rows = [...byId.values()];
    // Sorted, so that concurrent statements wait for each other instead of deadlocking.
    rows.sort((left, right) => (left.signInId < right.signInId ? -1 : 1));
    if (rows.length > 0) await this.transaction.manager.upsert(MerchantSignOut, rows, ['signInId']);
  }

  /**
   * Returns sign-ins, unless the last request about them was sent after `askedBefore`: the first of every client before the second of
   * any. Those of a client begin with those that the gateway was never asked about, followed by those whose last request was the
   * longest ago. Records that the next request is sent now.
   */
  async claim(askedBefore: Date, now: Date, limit: number): Promise<string[]> {
    const isDue = `(asked_at IS NULL OR ${hasCome('asked_at', 0, '$2', '$1')})`;
    // The recursion reads one row of the index for each client, where DISTINCT would read all.
    const rows = await this.transaction.changedRows<{ sign_in_id: string }>(
      `WITH RECURSIVE client (id) AS (
         (SELECT client_id FROM merchant_sign_out ORDER BY client_id LIMIT 1)
         UNION ALL
         SELECT (SELECT client_id FROM merchant_sign_out WHERE client_id > id ORDER BY client_id LIMIT 1)
           FROM client WHERE id IS NOT NULL),
       next AS (
         SELECT own.* FROM client
          CROSS JOIN LATERAL (
                  SELECT sign_in_id, asked_at, created_at, row_number() OVER (ORDER BY asked_at NULLS FIRST, created_at) AS turn
                    FROM merchant_sign_out WHERE client_id = client.id AND ${isDue}
                   ORDER BY asked_at NULLS FIRST, created_at LIMIT $3) own
          ORDER BY turn, asked_at NULLS FIRST, created_at LIMIT $3)
       UPDATE merchant_sign_out SET asked_at = $2
        WHERE sign_in_id IN (SELECT sign_in_id FROM merchant_sign_out
                              WHERE sign_in_id IN (SELECT sign_in_id FROM next) AND ${isDue} FOR UPDATE SKIP LOCKED)
        RETURNING sign_in_id`,
      [askedBefore, now, limit],
    );
    return rows.map(({ sign_in_id: id }) => id);
  }

  async oldest(): Promise<Date | null> {
    const [oldest] = await this.transaction.manager.find(MerchantSignOut, {
      order: { createdAt: 'ASC' },
      take: 1,
    });
    return oldest?.createdAt ?? null;
  }

  async remove(signInId: string): Promise<void> {
    await this.transaction.manager.delete(MerchantSignOut, { signInId });
  }
}
