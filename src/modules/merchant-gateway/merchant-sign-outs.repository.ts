import { Injectable } from '@nestjs/common';
import { Transaction } from '../../infrastructure/database/index.js';
import { MerchantSignOut } from './merchant-sign-out.entity.js';

/** A sign-in to undo; null if there was none. */
export interface SignOut {
  readonly signInId: string | null;
  /** When the last request about the sign-in was sent, if its response may still arrive. */
  readonly askedAt?: Date | null;
}

/** Stores the sign-ins that the gateway has to end. `MerchantSignOutsJob` sends the requests. */
@Injectable()
export class MerchantSignOutsRepository {
  constructor(private readonly transaction: Transaction) {}

  async add(signIns: readonly SignOut[], createdAt: Date): Promise<void> {
    const rows = signIns.flatMap(({ signInId, askedAt = null }) =>
      signInId === null ? [] : { signInId, createdAt, askedAt },
    );
    if (rows.length > 0) await this.transaction.manager.upsert(MerchantSignOut, rows, ['signInId']);
  }

  /**
   * Returns the oldest sign-ins, unless the last request about them was sent after `askedBefore`. Records that the next request is
   * sent now.
   */
  async claim(askedBefore: Date, now: Date, limit: number): Promise<string[]> {
    const rows = await this.transaction.changedRows<{ sign_in_id: string }>(
      `UPDATE merchant_sign_out SET asked_at = $2
        WHERE sign_in_id IN (SELECT sign_in_id FROM merchant_sign_out
                              WHERE asked_at IS NULL OR asked_at < $1
                              ORDER BY created_at LIMIT $3 FOR UPDATE SKIP LOCKED)
        RETURNING sign_in_id`,
      [askedBefore, now, limit],
    );
    return rows.map(({ sign_in_id: id }) => id);
  }

  async remove(signInId: string): Promise<void> {
    await this.transaction.manager.delete(MerchantSignOut, { signInId });
  }
}
