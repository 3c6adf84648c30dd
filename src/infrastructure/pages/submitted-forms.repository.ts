import { Injectable } from '@nestjs/common';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { DeleteAfter, Transaction } from '../database/index.js';
import { HoldsUserData, type UserDataHolder } from '../erasure/index.js';
import { MINUTE } from '../time/index.js';

/** How long a form that is sent again leads to where it led first. */
export const REPEATED_FOR = 10 * MINUTE;

/** A form of a page that is being processed, or that led to another page. */
@Entity({ name: 'submitted_form' })
export class SubmittedForm {
  /** Digest of the browser, the address, and the fields with the token of the page. */
  @PrimaryColumn({ name: 'form_hash', type: 'bytea' })
  formHash!: Buffer;

  /** Where the form led, and the cookies that it set, encrypted. Null while the form is being processed. */
  @Column({ name: 'outcome_sealed', type: 'bytea', nullable: true })
  outcomeSealed!: Buffer | null;

  @DeleteAfter(REPEATED_FOR)
  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
}

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
