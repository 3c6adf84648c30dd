import { Column, Entity } from 'typeorm';
import { DatedRow, DeleteAfter } from '../../../infrastructure/database/index.js';
import { DAY } from '../../../infrastructure/time/index.js';

/** Users have at most one email with a link that sets their password: an invitation or a reset. */
export type EmailKind = 'invitation' | 'reset' | 'notice';

/**
 * `refused`: by the mail server, for good. `expired`: the mail server did not accept the email while it was of use. `cancelled`: the
 * user was disabled.
 */
export type EmailOutcome = 'sent' | 'refused' | 'expired' | 'cancelled';

/**
 * An email to a dashboard user, written in the transaction that causes it and sent by `EmailsJob`. It has no address: an email goes
 * to the address of the user, and removing the user deletes it.
 */
@Entity({ name: 'outgoing_email' })
export class OutgoingEmail extends DatedRow {
  @Column({ name: 'user_id', type: 'uuid' })
  userId!: string;

  @Column({ type: 'varchar', length: 10 })
  kind!: EmailKind;

  /** The subject that the email announces, for senders that must know whether it was sent. */
  @Column({ type: 'varchar', length: 128, nullable: true })
  about!: string | null;

  /** Subject and body, sealed, because links in emails are as good as passwords. Null once there is an outcome. */
  @Column({ name: 'content_sealed', type: 'bytea', nullable: true })
  contentSealed!: Buffer | null;

  /** When the next attempt is due. During an attempt, when another process may take over. */
  @Column({ name: 'due_at', type: 'timestamptz', precision: 3 })
  dueAt!: Date;

  /** The time until which the email is useful: not longer than its link works. */
  @DeleteAfter(30 * DAY)
  @Column({ name: 'expires_at', type: 'timestamptz', precision: 3 })
  expiresAt!: Date;

  @Column({ type: 'integer', default: 0 })
  attempts!: number;

  @Column({ type: 'varchar', length: 9, nullable: true })
  outcome!: EmailOutcome | null;

  /** The mail server's last reply that was not a success, without its text, such as `550 5.1.1`. */
  @Column({ type: 'varchar', length: 16, nullable: true })
  reply!: string | null;
}
