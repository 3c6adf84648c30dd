import { createTransport, type Transporter } from 'nodemailer';
import type { MailConfiguration } from './mail.configuration.js';
import { Mailer, type RenderedMail } from './mailer.js';

/** Milliseconds. Emails are sent in the background, but must not hang forever. */
const TIMEOUT = 15_000;

/** Sends emails through an SMTP server. */
export class SmtpMailer extends Mailer {
  private readonly transport: Transporter;

  constructor(private readonly configuration: MailConfiguration) {
    super();
    this.transport = transportOf(configuration);
  }

  override async deliver(mail: RenderedMail): Promise<void> {
    await this.transport.sendMail({ from: this.configuration.from, ...mail });
  }
}

/** Connects to the server and logs in. @returns the problem, if there is one */
export async function checkMail(configuration: MailConfiguration): Promise<string | undefined> {
  const transport = transportOf(configuration);
  try {
    await transport.verify();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    transport.close();
  }
}

function transportOf({ smtpUrl }: MailConfiguration): Transporter {
  return createTransport({
    url: smtpUrl,
    connectionTimeout: TIMEOUT,
    greetingTimeout: TIMEOUT,
    socketTimeout: TIMEOUT,
  });
}
