import { Global, Logger, Module } from '@nestjs/common';
import { ServiceConfiguration } from '../config/index.js';
import { OperatorError } from '../errors/index.js';
import { HttpClient } from '../http-client/index.js';
import { Clock } from '../time/index.js';
import { FileMailer, Mailer, mailHostName, SmtpMailer } from './mailer.js';
import { MailConfiguration, TextMessagesConfiguration } from './messages.configuration.js';
import { MessageFiles } from './message-files.js';
import {
  FileTextMessageSender,
  TextMessages,
  TextMessageSenders,
  TwilioTextMessageSender,
} from './text-messages.js';

function mailer(
  mail: MailConfiguration,
  service: ServiceConfiguration,
  files: MessageFiles,
  clock: Clock,
): Mailer {
  if (mail.smtpUrl !== undefined) return new SmtpMailer(mail, mailHostName(mail, service));
  if (service.isProduction && service.serves('dashboard')) {
    new Logger('Mail').warn(
      'SMTP_URL is not set: emails are written to files in DATA_DIR/mail, and their recipients do not get them',
    );
  }
  return new FileMailer(mail, clock, files);
}

/** @throws OperatorError if the HTTP client must not send requests to the provider's URL */
export function textMessageSenders(
  { account, inDevelopment }: TextMessagesConfiguration,
  service: ServiceConfiguration,
  http: HttpClient,
  messageFiles: MessageFiles,
): TextMessageSenders {
  const files = new FileTextMessageSender(messageFiles);
  if (account) {
    if (http.urlProblem(account.apiUrl) !== undefined)
      throw new OperatorError('TWILIO_API_URL must be a public https URL, unless WEBHOOK_TARGETS is any.');
    const twilio = new TwilioTextMessageSender(account, http);
    return new TextMessageSenders({ development: inDevelopment ? twilio : files, production: twilio });
  }
  if (service.isProduction && service.serves('connector')) {
    new Logger('Text messages').warn(
      'TWILIO_ACCOUNT_SID is not set: text messages are written to files in DATA_DIR/messages, and their recipients do not get them',
    );
  }
  return new TextMessageSenders({ development: files, production: files });
}

@Global()
@Module({
  providers: [
    MessageFiles,
    {
      provide: Mailer,
      inject: [MailConfiguration, ServiceConfiguration, MessageFiles, Clock],
      useFactory: mailer,
    },
    TextMessages,
    {
      provide: TextMessageSenders,
      inject: [TextMessagesConfiguration, ServiceConfiguration, HttpClient, MessageFiles],
      useFactory: textMessageSenders,
    },
  ],
  exports: [Mailer, TextMessages],
})
export class MessagesModule {}
