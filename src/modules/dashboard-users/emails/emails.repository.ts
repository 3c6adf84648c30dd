import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { In, Not } from 'typeorm';
import { Sealer } from '../../../infrastructure/crypto/index.js';
import { Transaction } from '../../../infrastructure/database/index.js';
import type { MailContent } from '../../../infrastructure/messages/index.js';
import { Clock, DAY } from '../../../infrastructure/time/index.js';
import { OutgoingEmail } from './outgoing-email.entity.js';

/** Milliseconds for which the service tries to send a notice. */
const NOTICE_LIFETIME = 3 * DAY;

type NewEmail = Pick<OutgoingEmail, 'kind' | 'expiresAt'> & { readonly about?: string | undefined };

/** An email of which this process makes an attempt. */
export type ClaimedEmail = Pick<OutgoingEmail, 'id' | 'kind' | 'contentSealed' | 'expiresAt' | 'attempts'> & {
  readonly to: string;
  readonly isDisabled: boolean;
};

export type InvitationEmail = Pick<OutgoingEmail, 'outcome' | 'reply' | 'attempts' | 'dueAt'>;

/** The emails to dashboard users. Methods join the open transaction, and `EmailsJob` sends what is committed. */
@Injectable()
export class EmailsRepository {
  constructor(
    private readonly transaction: Transaction,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /** Adds an email with a link that sets the password, in place of earlier ones. */
  async addLink(
    userId: string,
    mail: MailContent,
    email: NewEmail & { readonly kind: 'invitation' | 'reset' },
  ): Promise<void> {
    await this.deleteLinks(userId);
    await this.add([userId], mail, email);
  }

  /** @param about what the email announces, for `noticeState` */
  async addNotice(userIds: readonly string[], mail: MailContent, about?: string): Promise<void> {
    const expiresAt = new Date(this.clock.milliseconds() + NOTICE_LIFETIME);
    await this.add(userIds, mail, { kind: 'notice', expiresAt, about });
  }

  /** Deletes emails whose links do not work anymore. */
  async deleteLinks(userId: string): Promise<void> {
    await this.transaction.manager.delete(OutgoingEmail, { userId, kind: In(['invitation', 'reset']) });
  }

  /** Returns whether a notice was sent to at least one user, is on its way, or has to be added, for the first time or again. */
  async noticeState(about: string): Promise<'sent' | 'pending' | 'missing'> {
    const found = await this.transaction.manager.findBy(OutgoingEmail, { about });
    if (found.some(({ outcome }) => outcome === 'sent')) return 'sent';
    return found.some(({ outcome }) => outcome === null) ? 'pending' : 'missing';
  }

  async deleteFailed(about: string): Promise<void> {
    await this.transaction.manager.delete(OutgoingEmail, { about, outcome: Not('sent') });
  }

  /** Returns what became of the invitations of these users. */
  async invitations(userIds: readonly string[]): Promise<ReadonlyMap<string, InvitationEmail>> {
    const invitations = { userId: In([...userIds]), kind: 'invitation' } as const;
    const found = await this.transaction.manager.findBy(OutgoingEmail, invitations);
    return new Map(found.map((email) => [email.userId, email]));
  }

  /** Returns emails whose attempt is due, the longest-waiting first, and lets other processes take over at `until`. */
  async claim(now: Date, until: Date, limit: number): Promise<ClaimedEmail[]> {
    return this.transaction.changedRows<ClaimedEmail>(
      `UPDATE outgoing_email email SET due_at = $2, attempts = attempts + 1
         FROM dashboard_user
        WHERE dashboard_user.id = email.user_id
          AND email.id IN (SELECT id FROM outgoing_email WHERE outcome IS NULL AND due_at <= $1
                            ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED)
        RETURNING email.id, email.kind, email.content_sealed AS "contentSealed", email.expires_at AS "expiresAt",
                  email.attempts, dashboard_user.email AS "to", dashboard_user.disabled_at IS NOT NULL AS "isDisabled"`,
      [now, until, limit],
    );
  }

  contentOf({ id, contentSealed }: ClaimedEmail): MailContent {
    return JSON.parse(this.sealer.openOptional(contentSealed, ownerOf(id)) ?? 'null') as MailContent;
  }

  /** Returns since when the oldest email waits; null if none waits. */
  async oldest(): Promise<Date | null> {
    const [row] = await this.transaction.manager.query<[{ oldest: Date | null }]>(
      'SELECT min(created_at) AS oldest FROM outgoing_email WHERE outcome IS NULL',
    );
    return row.oldest;
  }

  private async add(userIds: readonly string[], mail: MailContent, { about, ...email }: NewEmail) {
    const now = this.clock.now();
    const content = JSON.stringify({ subject: mail.subject, body: mail.body });
    const rows = userIds.map((userId) => {
      const id = randomUUID();
      const contentSealed = this.sealer.seal(content, ownerOf(id));
      return { ...email, id, userId, contentSealed, about: about ?? null, createdAt: now, dueAt: now };
    });
    await this.transaction.manager.insert(OutgoingEmail, rows);
  }
}

const ownerOf = (id: string): string[] => ['outgoing_email', id];
