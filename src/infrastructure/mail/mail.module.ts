import { Global, Module } from '@nestjs/common';
import { ServiceConfiguration } from '../config/index.js';
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
      inject: [MailConfiguration, ServiceConfiguration, Clock],
      useFactory: (mail: MailConfiguration, service: ServiceConfiguration, clock: Clock): Mailer =>
        mail.smtpUrl === undefined
          ? new FileMailer(mail, clock, service.dataDirectory)
          : new SmtpMailer(mail),
    },
  ],
  exports: [Mailer],
})
export class MailModule {}
