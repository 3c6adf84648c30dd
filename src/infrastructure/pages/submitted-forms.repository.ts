import { Injectable } from '@nestjs/common';
import { Transaction } from '../database/index.js';
import { HoldsUserData, type UserDataHolder } from '../erasure/index.js';

/** An address that a form led to can name a user. Nothing says which, so that an erasure deletes all of them. */
@HoldsUserData('access')
@Injectable()
export class SubmittedFormsRepository implements UserDataHolder {
  constructor(private readonly transaction: Transaction) {}

  /** @returns 0: most of the rows are about others */
  async eraseBatch(): Promise<number> {
    await this.transaction.change('DELETE FROM submitted_form WHERE outcome_sealed IS NOT NULL', []);
    return 0;
  }

  /**
   * Reserves a form for one request.
   *
   * @param abandonedBefore when a form that is still being processed was received at the latest if its process has ended
   * @param forgottenBefore when a form with an outcome was received at the latest if it is processed again
   * @returns false if another request has reserved or processed it
   */
  async claim(formHash: Buffer, now: Date, abandonedBefore: Date, forgottenBefore: Date): Promise<boolean> {
    const rows = await this.transaction.manager.query<unknown[]>(
      `INSERT INTO submitted_form (form_hash, created_at) VALUES ($1, $2)
       ON CONFLICT (form_hash) DO UPDATE SET created_at = $2, outcome_sealed = NULL
        WHERE submitted_form.created_at < CASE WHEN submitted_form.outcome_sealed IS NULL THEN $3::timestamptz ELSE $4::timestamptz END
       RETURNING form_hash`,
      [formHash, now, abandonedBefore, forgottenBefore],
    );
    return rows.length === 1;
  }
}
