import { htmlOf, textOf, type MailPart } from './mail-body.js';

/** An email to one recipient. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly body: readonly MailPart[];
}

/** An email as it is sent, with the same content as text and as HTML (RFC 2046, section 5.1.4). */
export interface RenderedMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Port for sending emails. */
export abstract class Mailer {
  /** Resolves when the SMTP server has accepted the email or the file is written. Rejects otherwise. */
  send({ to, subject, body }: Mail): Promise<void> {
    return this.deliver({ to, subject, text: textOf(body), html: htmlOf(subject, body) });
  }

  abstract deliver(mail: RenderedMail): Promise<void>;
}
