import { Logger } from '@nestjs/common';
import { MessageFiles } from '../message-files/index.js';
import type { Metrics } from '../metrics/index.js';
import { TextMessages, type TextMessage } from './text-messages.js';

/** Writes each text message to a file and logs the path of the file. Used if no provider is configured. */
export class FileTextMessages extends TextMessages {
  private readonly logger = new Logger('Text messages');
  private readonly files: MessageFiles;

  constructor(metrics: Metrics, dataDirectory: string) {
    super(metrics, 'written');
    this.files = new MessageFiles(dataDirectory, 'messages', 'txt');
  }

  protected override async deliver({ to, body }: TextMessage): Promise<void> {
    const file = await this.files.write(`To: ${to}\n\n${body}\n`);
    this.logger.log(`A text message was written to ${file}`);
  }
}
