import { IsEmail, type ValidationArguments } from 'class-validator';
import {
  Configuration,
  EnvironmentVariable,
  IsHttpUrl,
  IsIntegerBetween,
  isOtherMachine,
  parsedUrl,
  Satisfies,
  type EncryptionRules,
} from '../config/index.js';

const isSmtpUrl = (value: unknown): boolean =>
  typeof value === 'string' && /^smtps?:\/\//i.test(value) && parsedUrl(value) !== undefined;

@Configuration('Mail')
export class MailConfiguration implements EncryptionRules {
  @EnvironmentVariable(
    'SMTP_URL',
    'SMTP server, as `smtps://user:password@host:465`, or `smtp://user:password@host:587?requireTLS=true` for a server that begins TLS with STARTTLS. Leave out the user and the password if it needs none. Without the setting, every email is written to a file in the data directory.',
    { secret: true },
  )
  @Satisfies(
    isSmtpUrl,
    'smtpUrl must be a URL such as smtps://user:password@host:465; write special characters as %XX',
  )
  smtpUrl?: string;

  @EnvironmentVariable('MAIL_FROM', 'Sender of emails.')
  @IsEmail(
    { require_tld: false },
    { message: '$property must be an email address without a name, such as no-reply@example.com' },
  )
  from: string = 'no-reply@merchant-connectivity.example';

  @EnvironmentVariable(
    'MAIL_MAX_RETRY_SECONDS',
    'Longest pause between two attempts to send an email, in seconds. The first pause is 10 seconds, and each is twice as long as the one before.',
  )
  @IsIntegerBetween(1, 86_400)
  maxRetrySeconds: number = 900;

  /**
   * The URL as the library reads it: it waits for a greeting in clear at port 465, where TLS comes first whatever the scheme is
   * (RFC 8314, section 3.3).
   */
  get transportUrl(): string | undefined {
    const isTls = parsedUrl(this.smtpUrl ?? '')?.port === '465';
    return isTls ? this.smtpUrl?.replace(/^smtp:/i, 'smtps:') : this.smtpUrl;
  }

  /** Without `requireTLS`, TLS is used only if the server offers it, and anyone in between can remove the offer. */
  unencryptedSettings(): string[] {
    const url = parsedUrl(this.transportUrl ?? '');
    const isPlain = url?.protocol === 'smtp:' && url.searchParams.get('requireTLS') !== 'true';
    return isPlain && isOtherMachine(url.hostname) ? ['SMTP_URL'] : [];
  }
}

const MAX_MESSAGES = 100_000_000;

const ALL_OR_NONE =
  'requires the other settings of Twilio: set TWILIO_ACCOUNT_SID, TWILIO_AUTH_TOKEN and TWILIO_FROM, or none of them';

function hasOthers(_value: unknown, context?: ValidationArguments): boolean {
  return (context?.object as TextMessagesConfiguration | undefined)?.account !== undefined;
}

const isPathSegment = (value: unknown): boolean => /^[\w-]+$/.test(String(value));

export interface TwilioAccount {
  readonly accountSid: string;
  readonly authToken: string;
  readonly from: string;
  readonly apiUrl: string;
}

@Configuration('Text messages')
export class TextMessagesConfiguration {
  @EnvironmentVariable(
    'TWILIO_ACCOUNT_SID',
    'Account at Twilio that sends text messages, such as sign-in links. Without it, every text message is written to a file in the data directory.',
  )
  @Satisfies(isPathSegment, 'accountSid must be the SID of an account, such as AC followed by 32 digits')
  @Satisfies(hasOthers, `accountSid ${ALL_OR_NONE}`)
  accountSid?: string;

  @EnvironmentVariable('TWILIO_AUTH_TOKEN', 'Secret of the account at Twilio.', { secret: true })
  @Satisfies(hasOthers, `authToken ${ALL_OR_NONE}`)
  authToken?: string;

  @EnvironmentVariable(
    'TWILIO_FROM',
    'Sender of text messages: a phone number of the account, such as `+12125550123`, or the SID of a messaging service (`MG…`).',
  )
  @Satisfies(hasOthers, `from ${ALL_OR_NONE}`)
  from?: string;

  @EnvironmentVariable(
    'TWILIO_API_URL',
    'URL of the API of Twilio or of a compatible provider. Requests are subject to the settings of outbound requests, including `WEBHOOK_TARGETS` and `OUTBOUND_PROXY_URL`.',
  )
  @IsHttpUrl('https://api.twilio.com')
  apiUrl: string = 'https://api.twilio.com';

  @EnvironmentVariable(
    'TEXT_MESSAGES_IN_DEVELOPMENT',
    'Whether text messages of clients of the environment `development` are sent too. By default, they are written to files in the data directory.',
  )
  inDevelopment: boolean = false;

  @EnvironmentVariable(
    'TEXT_MESSAGES_PER_NUMBER_AND_HOUR',
    'Maximum number of text messages to one phone number per hour, from all clients together. One client can send half of them.',
  )
  @IsIntegerBetween(1, MAX_MESSAGES)
  perNumberAndHour: number = 10;

  @EnvironmentVariable(
    'TEXT_MESSAGES_PER_NUMBER_AND_DAY',
    'Maximum number of text messages to one phone number per day, from all clients together. One client can send half of them.',
  )
  @IsIntegerBetween(1, MAX_MESSAGES)
  perNumberAndDay: number = 40;

  @EnvironmentVariable(
    'TEXT_MESSAGES_PER_CLIENT_AND_DAY',
    'Maximum number of text messages of one client per day.',
  )
  @IsIntegerBetween(1, MAX_MESSAGES)
  perClientAndDay: number = 10_000;

  @EnvironmentVariable(
    'TEXT_MESSAGES_PER_DAY',
    'Maximum number of text messages of all clients together per day. Messages that are written to files count separately.',
  )
  @IsIntegerBetween(1, MAX_MESSAGES)
  perDay: number = 100_000;

  get account(): TwilioAccount | undefined {
    const { accountSid, authToken, from, apiUrl } = this;
    if (accountSid === undefined || authToken === undefined || from === undefined) return undefined;
    return { accountSid, authToken, from, apiUrl };
  }
}
