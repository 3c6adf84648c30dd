import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { createTransport, type Transporter } from 'nodemailer';
import type { Clock } from '../time/index.js';
import { htmlOf, textOf, type MailPart } from './mail-body.js';
import type { MailConfiguration } from './messages.configuration.js';
import type { MessageFiles } from './message-files.js';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly body: readonly MailPart[];
}

/** An email as it is sent, with the same content as text and as HTML (RFC 2046, section 5.1.4). */
export interface RenderedMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Port for sending emails. */
export abstract class Mailer {
  /** Resolves when the SMTP server has accepted the email or the file is written. Rejects otherwise. */
  send({ to, subject, body }: Mail): Promise<void> {
    return this.deliver({ to, subject, text: textOf(body), html: htmlOf(subject, body) });
  }

  abstract deliver(mail: RenderedMail): Promise<void>;
}

/** Milliseconds. Emails are sent in the background, but must not hang forever. */
const TIMEOUT = 15_000;

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

/** Writes each email to a file and logs the path of the file. Used if no SMTP server is configured. */
export class FileMailer extends Mailer {
  private readonly logger = new Logger('Mail');

  constructor(
    private readonly configuration: MailConfiguration,
    private readonly clock: Clock,
    private readonly files: MessageFiles,
  ) {
    super();
  }

  override async deliver(mail: RenderedMail): Promise<void> {
    const file = await this.files.write('mail', this.format(mail));
    this.logger.log(`An email was written to ${file}`);
  }

  /** Formats the email without nodemailer, which folds long lines: links could then not be copied from the file. */
  private format({ to, subject, text, html }: RenderedMail): string {
    const boundary = randomUUID();
    const headers = [
      `From: ${this.configuration.from}`,
      `To: ${to}`,
      `Subject: ${subject}`,
      `Date: ${this.clock.now().toUTCString()}`,
      'MIME-Version: 1.0',
      `Content-Type: multipart/alternative; boundary="${boundary}"`,
    ];
    const parts = Object.entries({ plain: text, html }).flatMap(([type, content]) => [
      `--${boundary}`,
      `Content-Type: text/${type}; charset=utf-8`,
      'Content-Transfer-Encoding: 8bit',
      '',
      ...content.split('\n'),
    ]);
    return [...headers, '', ...parts, `--${boundary}--`, ''].join('\r\n');
  }
}
