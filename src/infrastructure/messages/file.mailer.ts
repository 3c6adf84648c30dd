import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { MessageFiles } from './message-files.js';
import type { Clock } from '../time/index.js';
import type { MailConfiguration } from './mail.configuration.js';
import { Mailer, type RenderedMail } from './mailer.js';

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
