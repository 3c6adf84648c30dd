import { IsEmail } from 'class-validator';
import { Configuration, EnvironmentVariable, parsedUrl, Satisfies } from '../config/index.js';

const isSmtpUrl = (value: unknown): boolean =>
  typeof value === 'string' && /^smtps?:\/\//.test(value) && parsedUrl(value) !== undefined;

@Configuration('Mail')
export class MailConfiguration {
  @EnvironmentVariable(
    'SMTP_URL',
    'SMTP server, as `smtps://user:password@host:465`. Without it, every email is written to a file in the data directory.',
    { secret: true },
  )
  @Satisfies(isSmtpUrl, 'smtpUrl must be a URL such as smtps://user:password@host:465')
  smtpUrl?: string;

  @EnvironmentVariable('MAIL_FROM', 'Sender of emails.')
  @IsEmail({ require_tld: false })
  from: string = 'no-reply@merchant-connectivity.example';
}
