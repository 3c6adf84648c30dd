import { Injectable, Logger } from '@nestjs/common';
import { BackgroundTasks } from '../../../infrastructure/http/index.js';
import { Mailer, type Mail } from '../../../infrastructure/mail/index.js';

const SIGNATURE = '-- \nMerchant Connectivity';

/** Emails about passwords. They are sent in the background, so that response times do not show who gets one. */
@Injectable()
export class PasswordEmails {
  private readonly logger = new Logger('Mail');

  constructor(
    private readonly mailer: Mailer,
    private readonly tasks: BackgroundTasks,
  ) {}

  sendReset(to: string, link: string): void {
    this.send({
      to,
      subject: 'Set a new password',
      text: `Someone, probably you, requested a new password for your account.

Set a new password here. The link works once and expires in one hour:

${link}

If you didn't request it, ignore this email. Your password stays the same.`,
    });
  }

  sendInvitation(to: string, organization: string, link: string): void {
    this.send({
      to,
      subject: 'Your invitation',
      text: `You have been invited to the dashboard of ${organization}.

Set a password to get started. The link works once and expires in 7 days:

${link}

If you didn't expect this invitation, ignore this email.`,
    });
  }

  sendChanged(to: string): void {
    this.send({
      to,
      subject: 'Your password was changed',
      text: `The password of your account was changed, and your other sessions were ended.

If you didn't change it, request a new password on the login page right away, and tell an owner of
your organization.`,
    });
  }

  /** Runs work that sends an email. It continues after the response. */
  inBackground(work: () => Promise<void>): void {
    this.tasks.begin(() =>
      work().catch((error: unknown) => {
        // The error message may contain the recipient's address.
        const { code, name } = error as { code?: string; name?: string };
        this.logger.error(`An email could not be sent (${code ?? name})`);
      }),
    );
  }

  private send(mail: Mail): void {
    this.inBackground(() => this.mailer.send({ ...mail, text: `${mail.text}\n\n${SIGNATURE}\n` }));
  }
}
