import { Entity, PrimaryColumn, Column } from 'typeorm';
import { DeleteAfter } from '../database/index.js';
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

  /** Digest of the user whom the response may name. */
  @Column({ name: 'user_hash', type: 'bytea', nullable: true })
  userHash!: Buffer | null;

  @DeleteAfter(REPEATED_FOR)
  @Column({ name: 'created_at', type: 'timestamptz', precision: 3 })
  createdAt!: Date;
}
