import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import { createTransport, type Transporter } from 'nodemailer';
import type { ServiceConfiguration } from '../config/index.js';
import type { Clock } from '../time/index.js';
import { htmlOf, textOf, type MailPart } from './mail-body.js';
import type { MailConfiguration } from './messages.configuration.js';
import type { MessageFiles } from './message-files.js';

export interface MailContent {
  readonly subject: string;
  readonly body: readonly MailPart[];
}

interface Addressed {
  /** The same in every attempt, so that mail programs recognize an email that arrives twice. */
  readonly id: string;
  readonly to: string;
  /** Ends the attempt. */
  readonly signal?: AbortSignal;
}

/** An email as it is sent, with the same content as text and as HTML (RFC 2046, section 5.1.4). */
export interface RenderedMail extends Addressed {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** An email that the mail server refuses whenever it is sent. The message does not contain the address. */
export class UndeliverableMail extends Error {
  /** @param reply the reply of the mail server without its text; null if the address can never be sent to a server */
  constructor(readonly reply: string | null) {
    super('The mail server refused the email');
  }
}

/** Port for sending emails. */
export abstract class Mailer {
  /**
   * Resolves when the SMTP server has accepted the email or the file is written. Rejects otherwise.
   *
   * @throws UndeliverableMail
   */
  send({ subject, body, ...addressed }: Addressed & MailContent): Promise<void> {
    return this.deliver({ ...addressed, subject, text: textOf(body), html: htmlOf(subject, body) });
  }

  abstract deliver(mail: RenderedMail): Promise<void>;
}

/** Tells mail programs not to respond, for example with a notice of absence (RFC 3834, section 5; Exchange reads the second one only). */
const HEADERS = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'OOF, AutoReply' };

/** Milliseconds without a reply of the server. */
const TIMEOUT = 15_000;
/** Connections are kept for further emails: connecting and logging in takes longer than sending. */
export const SMTP_CONNECTIONS = 5;

/** Sends emails through the server of `SMTP_URL`. */
export class SmtpMailer extends Mailer implements OnApplicationShutdown {
  private readonly transport: Transporter;

  constructor(
    private readonly configuration: MailConfiguration,
    private readonly hostName: string,
  ) {
    super();
    this.transport = createTransport({
      ...optionsOf(configuration, hostName),
      pool: true,
      maxConnections: SMTP_CONNECTIONS,
      // If the server has closed a kept connection in the meantime, the email is sent over another one. Otherwise, the caller retries.
      maxRequeues: 1,
    });
  }

  override async deliver({ id, ...mail }: RenderedMail): Promise<void> {
    const messageId = `<${id}@${this.hostName.replace(/^\[|\]$/g, '')}>`;
    try {
      await this.transport.sendMail({ from: this.configuration.from, messageId, headers: HEADERS, ...mail });
    } catch (error) {
      throw isFinal(error as SmtpError) ? new UndeliverableMail(replyIn(error)) : error;
    }
  }

  onApplicationShutdown(): void {
    this.transport.close();
  }
}

type SmtpError = Error & {
  readonly code?: string;
  readonly command?: string;
  readonly response?: string;
  readonly responseCode?: number;
};

/**
 * Returns whether the server refuses the recipient or the message for good (RFC 5321, section 4.2.1). What it says about the login or
 * the sender is a problem of this installation, which the operator can fix.
 */
function isFinal(error: SmtpError): boolean {
  const { code, command, response = '', responseCode = 0 } = error;
  if (command === 'API') return code === 'EENVELOPE';
  const isOfSender =
    OF_THE_SENDER.test(replyIn(error) ?? '') || RELAYING.test(response.replaceAll(ADDRESS, ''));
  const isRefusal = responseCode >= 500 && responseCode < 600 && !isOfSender;
  return isRefusal && (command === 'RCPT TO' || command === 'DATA');
}

/**
 * Replies about the login (RFC 4954, section 6), the address of the sender (RFC 3463, section 3.2), and the proof that its domain sends
 * the email: SPF, DKIM and DMARC (RFC 7372). Many servers wait for the recipient or the message before they send them. Also limits of
 * Gmail (5.4.5) and what Exchange says about the sender, its network or its limits (5.1.90, 5.2.252, 5.7.5 to 5.7.7 and more digits).
 */
const OF_THE_SENDER =
  /^(?:503|53[0458])\b|^5\d\d 5\.(?:1\.(?:[78]|90)|2\.252|4\.5|7\.(?:8|9|11|2\d|[5-7]\d{1,2}))$/;
/**
 * The same without a code of its own: the server accepts nothing for other domains from here, blocks the sender or the network, or, as
 * Amazon SES in its sandbox, has not verified an address.
 */
const RELAYING =
  /\brelay|\bclient host\b|\bnot verified\b|\bsender (?:address|verify)\b|\b(?:spf|dkim|dmarc|rbl)\b|\bbl(?:ack|ock) ?list/i;
const ADDRESS = /\S*@\S*/g;

/** Returns the code and, if there is one, the enhanced code (RFC 3463) of the server's reply. Its text may contain the address. */
export function replyIn(error: unknown): string | null {
  const { response, responseCode } = error as SmtpError;
  const enhanced = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response ?? '')?.[1];
  return responseCode ? [responseCode, enhanced].join(' ').trim() : null;
}

/** Returns the name with which the service introduces itself to mail servers (RFC 5321, section 4.1.1.1). */
export function mailHostName({ from }: MailConfiguration, service: ServiceConfiguration): string {
  const url = service.publicUrlOf('dashboard');
  const name = url === undefined ? from.slice(from.lastIndexOf('@') + 1) : new URL(url).hostname;
  const address = name.replace(/^\[|\]$/g, '');
  return { 0: name, 4: `[${address}]`, 6: `[IPv6:${address}]` }[isIP(address)] ?? name;
}

/** Connects to the server and logs in. @returns the problem, if there is one */
export async function checkMail(
  configuration: MailConfiguration,
  service: ServiceConfiguration,
): Promise<string | undefined> {
  const transport = createTransport(optionsOf(configuration, mailHostName(configuration, service)));
  try {
    await transport.verify();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    transport.close();
  }
}

function optionsOf({ transportUrl: url }: MailConfiguration, name: string) {
  return {
    ...(url !== undefined && { url }),
    name,
    connectionTimeout: TIMEOUT,
    greetingTimeout: TIMEOUT,
    socketTimeout: TIMEOUT,
  };
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
      ...Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}`),
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
