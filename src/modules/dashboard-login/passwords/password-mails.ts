import { Injectable, Logger } from '@nestjs/common';
import { BackgroundTasks } from '../../../infrastructure/http/index.js';
import { Mailer, type Mail } from '../../../infrastructure/mail/index.js';

const SIGNATURE = '-- \nMerchant Connectivity';

/** Mails about passwords. Nobody waits for them, or how long an answer takes would tell who gets one. */
@Injectable()
export class PasswordMails {
  private readonly logger = new Logger('Mail');

  constructor(
    private readonly mailer: Mailer,
    private readonly tasks: BackgroundTasks,
  ) {}

  sendReset(to: string, link: string): void {
    this.send({
      to,
      subject: 'Set a new password',
      text: `Somebody, probably you, asked for a new password for your account.

Set it here. The link works once, for one hour:

${link}

If it was not you, do nothing: your password stays as it is.`,
    });
  }

  sendInvitation(to: string, organization: string, link: string): void {
    this.send({
      to,
      subject: 'Your invitation',
      text: `You are invited to the dashboard of ${organization}.

Set a password to begin. The link works once, for 7 days:

${link}

If you do not know what this is about, do nothing.`,
    });
  }

  sendChanged(to: string): void {
    this.send({
      to,
      subject: 'Your password was changed',
      text: `The password of your account was changed, and your other logins were ended.

If it was not you, ask for a new password on the login page at once, and tell an owner of your
organization.`,
    });
  }

  /** Work that ends in a mail: it goes on when its caller has gone. */
  inBackground(work: () => Promise<void>): void {
    this.tasks.begin(() =>
      work().catch((error: unknown) => {
        // The message may quote the recipient.
        const { code, name } = error as { code?: string; name?: string };
        this.logger.error(`A mail could not be sent (${code ?? name})`);
      }),
    );
  }

  private send(mail: Mail): void {
    this.inBackground(() => this.mailer.send({ ...mail, text: `${mail.text}\n\n${SIGNATURE}\n` }));
  }
}
