import { Logger } from '@nestjs/common';
import type { MessageFiles } from './message-files.js';
import { TextMessageSender, type AddressedText } from './text-message-sender.js';

/** Writes each text message to a file and logs the path of the file. Used if nothing else sends the message. */
export class FileTextMessageSender extends TextMessageSender {
  readonly outcome = 'written';
  private readonly logger = new Logger('Text messages');

  constructor(private readonly files: MessageFiles) {
    super();
  }

  override async deliver({ to, body }: AddressedText): Promise<void> {
    const file = await this.files.write('messages', `To: ${to}\n\n${body}\n`);
    this.logger.log(`A text message was written to ${file}`);
  }
}
