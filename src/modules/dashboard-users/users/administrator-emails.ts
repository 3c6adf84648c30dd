import { Injectable } from '@nestjs/common';
import { Transactional } from '../../../infrastructure/database/index.js';
import type { MailContent } from '../../../infrastructure/messages/index.js';
import { EmailsRepository } from '../emails/emails.repository.js';
import { DashboardUsersService } from './dashboard-users.service.js';

/** Emails to the owners and admins of an organization. */
@Injectable()
export class AdministratorEmails {
  constructor(
    private readonly emails: EmailsRepository,
    private readonly users: DashboardUsersService,
  ) {}

  /**
   * Sends the email unless it is on its way. Call it again until it was sent.
   *
   * @param about identifies what the email announces
   * @returns whether it was sent to an owner or admin, or nobody is there to get it
   */
  @Transactional()
  async ensureSent(organizationId: string, about: string, mail: MailContent): Promise<boolean> {
    const state = await this.emails.noticeState(about);
    if (state !== 'missing') return state === 'sent';
    await this.emails.deleteFailed(about);
    const recipients = await this.users.administrators(organizationId);
    const userIds = recipients.map(({ id }) => id);
    if (userIds.length > 0) await this.emails.addNotice(userIds, mail, about);
    return userIds.length === 0;
  }
}
