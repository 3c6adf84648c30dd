import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { Sealer } from '../../../infrastructure/crypto/index.js';
import { hasCome, Transaction } from '../../../infrastructure/database/index.js';
import type { MailContent } from '../../../infrastructure/messages/index.js';
import { Clock, DAY } from '../../../infrastructure/time/index.js';
import { OutgoingEmail, type EmailOutcome } from './outgoing-email.entity.js';

/** Milliseconds for which the service tries to send a notice. */
const NOTICE_LIFETIME = 3 * DAY;
/** How many due emails with links take turns, at most. A user has one. */
const MAX_LINKS = 5_000;
/** How many due notices take turns, at most: of those that have been due the longest, and of those that have just become due. */
const MAX_NOTICES = 2_500;
/** How many emails a claim tries to lock, at most. Other processes are claiming a few of them at this moment. */
const MAX_LOCKED = 200;

type NewEmail = Pick<OutgoingEmail, 'kind' | 'expiresAt'> & { readonly about?: string | undefined };

/** An email of which this process makes an attempt. */
export type ClaimedEmail = Pick<OutgoingEmail, 'id' | 'kind' | 'contentSealed' | 'expiresAt' | 'attempts'> & {
  readonly organizationId: string;
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

  /** @param about what the email announces, for `noticesAbout` */
  async addNotice(userIds: readonly string[], mail: MailContent, about?: string): Promise<void> {
    const expiresAt = new Date(this.clock.milliseconds() + NOTICE_LIFETIME);
    await this.add(userIds, mail, { kind: 'notice', expiresAt, about });
  }

  /** Deletes emails whose links do not work anymore. */
  async deleteLinks(userId: string): Promise<void> {
    await this.transaction.manager.delete(OutgoingEmail, { userId, kind: In(['invitation', 'reset']) });
  }

  /** Returns what became of the notices about something, by the user that they were for. */
  async noticesAbout(about: string): Promise<ReadonlyMap<string, EmailOutcome | null>> {
    const found = await this.transaction.manager.findBy(OutgoingEmail, { about });
    return new Map(found.map(({ userId, outcome }) => [userId, outcome]));
  }

  /** Deletes notices that may be added again. */
  async deleteUnsent(about: string): Promise<void> {
    const outcome = In<EmailOutcome>(['expired', 'cancelled']);
    await this.transaction.manager.delete(OutgoingEmail, { about, outcome });
  }

  /** Returns what became of the invitations of these users. */
  async invitations(userIds: readonly string[]): Promise<ReadonlyMap<string, InvitationEmail>> {
    const invitations = { userId: In([...userIds]), kind: 'invitation' } as const;
    const found = await this.transaction.manager.findBy(OutgoingEmail, invitations);
    return new Map(found.map((email) => [email.userId, email]));
  }

  /**
   * Returns emails whose attempt has been due since `dueAt`, and lets other processes take over at `until`. Organizations take turns:
   * the invitations of one must not delay the password resets of others. Of an organization, links come before notices, because they
   * expire soon and a user waits for them, and then the longest-waiting first.
   *
   * Notices go to all administrators, so an organization can have tens of thousands. They do not keep the emails of others from being
   * compared: links are compared apart from notices, and notices at both ends of the queue.
   *
   * @param longestPause in milliseconds
   * @param sending the organization of each email that this process is sending: these have had their turn
   */
  async claim(
    { now, dueAt, until }: Readonly<Record<'now' | 'dueAt' | 'until', Date>>,
    limit: number,
    longestPause: number,
    sending: readonly string[],
  ): Promise<ClaimedEmail[]> {
    const isDue = (column: string) =>
      `outcome IS NULL AND ${hasCome(column, longestPause, '$1', '$4::timestamptz')}`;
    const compared = (kinds: string, order: string, max: number) =>
      `(SELECT id, user_id, kind, due_at FROM outgoing_email
         WHERE ${isDue('due_at')} AND ${kinds} ORDER BY due_at ${order} LIMIT ${max})`;
    return this.transaction.changedRows<ClaimedEmail>(
      `UPDATE outgoing_email email SET due_at = $2, attempts = attempts + 1
         FROM dashboard_user
        WHERE dashboard_user.id = email.user_id
          AND email.id = ANY (ARRAY(
                SELECT due.id
                  FROM outgoing_email due
                  JOIN (SELECT compared.id, compared.due_at, cardinality(array_positions($5::uuid[], organization_id))
                               + row_number() OVER (PARTITION BY organization_id
                                                        ORDER BY compared.kind = 'notice', compared.due_at) AS turn
                          FROM (${compared("kind <> 'notice'", 'ASC', MAX_LINKS)}
                                UNION ${compared("kind = 'notice'", 'ASC', MAX_NOTICES)}
                                UNION ${compared("kind = 'notice'", 'DESC', MAX_NOTICES)}) compared
                          JOIN dashboard_user ON dashboard_user.id = compared.user_id
                         ORDER BY turn, due_at LIMIT ${MAX_LOCKED}) turns ON turns.id = due.id
                 WHERE ${isDue('due.due_at')}
                 ORDER BY turns.turn, due.due_at LIMIT $3 FOR UPDATE OF due SKIP LOCKED))
        RETURNING email.id, email.kind, email.content_sealed AS "contentSealed", email.expires_at AS "expiresAt",
                  email.attempts, dashboard_user.organization_id AS "organizationId", dashboard_user.email AS "to", dashboard_user.disabled_at IS NOT NULL AS "isDisabled"`,
      [now, until, limit, dueAt, sending],
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
