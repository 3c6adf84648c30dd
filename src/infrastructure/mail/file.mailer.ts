import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Logger } from '@nestjs/common';
import { createTransport } from 'nodemailer';
import type { MailConfiguration } from './mail.configuration.js';
import { Mailer, type Mail } from './mailer.js';

/** Where there is no mail server: puts each mail into a file of its own and names it in the log. */
export class FileMailer extends Mailer {
  private readonly logger = new Logger('Mail');
  private readonly transport = createTransport({ streamTransport: true, buffer: true });

  constructor(
    private readonly configuration: MailConfiguration,
    dataDirectory: string,
  ) {
    super();
    this.directory = resolve(dataDirectory, 'mail');
  }

  private readonly directory: string;

  async send(mail: Mail): Promise<void> {
    const { message } = await this.transport.sendMail({ from: this.configuration.from, ...mail });
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    const file = join(this.directory, `${randomUUID()}.eml`);
    // It may hold a link that is as good as a password.
    await writeFile(file, message as Buffer, { mode: 0o600 });
    this.logger.log(`A mail was written to ${file}`);
  }
}
