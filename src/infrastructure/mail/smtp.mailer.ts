import { createTransport, type Transporter } from 'nodemailer';
import type { MailConfiguration } from './mail.configuration.js';
import { Mailer, type Mail } from './mailer.js';

/** Milliseconds. Emails are sent in the background, but must not hang forever. */
const TIMEOUT = 15_000;

/** Sends emails through an SMTP server. */
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
