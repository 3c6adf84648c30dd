import { Injectable } from '@nestjs/common';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { DeleteAfter, Transaction } from '../../infrastructure/database/index.js';
import { DAY } from '../../infrastructure/time/index.js';

/**
 * A sign-in that the gateway has to end, because the account was unlinked, its user was erased, its link ended, or the user
 * entered credentials again instead of a code. Deleted when the gateway has confirmed it.
 */
@Entity({ name: 'merchant_sign_out' })
class MerchantSignOut {
  /** The session of an unlinked account, or another sign-in. */
  @PrimaryColumn({ name: 'sign_in_id', type: 'uuid' })
  signInId!: string;

  /** The job stops after a month without a confirmation. */
  @DeleteAfter(30 * DAY)
  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;

  /** When the last request about the sign-in was sent to the gateway. */
  @Column({ name: 'asked_at', type: 'timestamptz', precision: 3, nullable: true })
  askedAt!: Date | null;
}

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
   * Returns sign-ins, unless the last request about them was sent after `askedBefore`: first those that the gateway was never asked
   * about, and then those whose last request was the longest ago. Records that the next request is sent now.
   */
  async claim(askedBefore: Date, now: Date, limit: number): Promise<string[]> {
    const rows = await this.transaction.changedRows<{ sign_in_id: string }>(
      `UPDATE merchant_sign_out SET asked_at = $2
        WHERE sign_in_id IN (SELECT sign_in_id FROM merchant_sign_out
                              WHERE asked_at IS NULL OR asked_at < $1
                              ORDER BY asked_at NULLS FIRST, created_at LIMIT $3 FOR UPDATE SKIP LOCKED)
        RETURNING sign_in_id`,
      [askedBefore, now, limit],
    );
    return rows.map(({ sign_in_id: id }) => id);
  }

  async remove(signInId: string): Promise<void> {
    await this.transaction.manager.delete(MerchantSignOut, { signInId });
  }
}
