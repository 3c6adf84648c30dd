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
   * Sends the email unless it is on its way. Call it again until it was sent. What the mail server has refused for good is not sent
   * to the same user again.
   *
   * @param about identifies what the email announces
   * @returns whether it was sent to an owner or admin, or nobody is there who can get it
   */
  @Transactional()
  async ensureSent(organizationId: string, about: string, mail: MailContent): Promise<boolean> {
    const notices = await this.emails.noticesAbout(about);
    const outcomes = [...notices.values()];
    if (outcomes.includes('sent')) return true;
    if (outcomes.includes(null)) return false;
    await this.emails.deleteUnsent(about);
    const administrators = await this.users.administrators(organizationId);
    const userIds = administrators.map(({ id }) => id).filter((id) => notices.get(id) !== 'refused');
    if (userIds.length > 0) await this.emails.addNotice(userIds, mail, about);
    return userIds.length === 0;
  }
}
