import { Global, Logger, Module } from '@nestjs/common';
import { ServiceConfiguration } from '../config/index.js';
import { MessageFiles } from '../message-files/index.js';
import { Clock } from '../time/index.js';
import { FileMailer } from './file.mailer.js';
import { MailConfiguration } from './mail.configuration.js';
import { Mailer } from './mailer.js';
import { SmtpMailer } from './smtp.mailer.js';

@Global()
@Module({
  providers: [
    {
      provide: Mailer,
      inject: [MailConfiguration, ServiceConfiguration, MessageFiles, Clock],
      useFactory: (
        mail: MailConfiguration,
        service: ServiceConfiguration,
        files: MessageFiles,
        clock: Clock,
      ): Mailer => {
        if (mail.smtpUrl !== undefined) return new SmtpMailer(mail);
        if (service.isProduction && service.serves('dashboard')) {
          new Logger('Mail').warn(
            'SMTP_URL is not set: emails are written to files in DATA_DIR/mail, and their recipients do not get them',
          );
        }
        return new FileMailer(mail, clock, files);
      },
    },
  ],
  exports: [Mailer],
})
export class MailModule {}
