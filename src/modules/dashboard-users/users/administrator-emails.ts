import { Injectable, Logger } from '@nestjs/common';
import { Mailer, type Mail } from '../../../infrastructure/messages/index.js';
import { DashboardUsersService } from './dashboard-users.service.js';

/** Emails to the owners and admins of an organization. */
@Injectable()
export class AdministratorEmails {
  private readonly logger = new Logger('Mail');

  constructor(
    private readonly mailer: Mailer,
    private readonly users: DashboardUsersService,
  ) {}

  /** @returns false if no recipient could be reached */
  async send(organizationId: string, mail: Omit<Mail, 'to'>): Promise<boolean> {
    const recipients = await this.users.administrators(organizationId);
    let failures = 0;
    for (const { email: to } of recipients) {
      await this.mailer.send({ ...mail, to }).catch((error: unknown) => {
        failures += 1;
        // The error message may contain the recipient's address.
        const { code, name } = error as { code?: string; name?: string };
        this.logger.error(`An email could not be sent (${code ?? name})`);
      });
    }
    return recipients.length === 0 || failures < recipients.length;
  }
}
