import { createTransport, type Transporter } from 'nodemailer';
import type { MailConfiguration } from './mail.configuration.js';
import { Mailer, type Mail } from './mailer.js';

/** Milliseconds; nobody waits for a mail, but nothing may hang for good. */
const TIMEOUT = 15_000;

/** Hands mails to a mail server. */
export class SmtpMailer extends Mailer {
  private readonly transport: Transporter;

  constructor(private readonly configuration: MailConfiguration) {
    super();
    this.transport = createTransport({
      url: configuration.smtpUrl,
      connectionTimeout: TIMEOUT,
      greetingTimeout: TIMEOUT,
      socketTimeout: TIMEOUT,
    });
  }

  async send(mail: Mail): Promise<void> {
    await this.transport.sendMail({ from: this.configuration.from, ...mail });
  }
}
