/** A plain text email to one recipient. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Port for sending emails. */
export abstract class Mailer {
  /** Resolves when the SMTP server has accepted the email, and rejects if it has not. */
  abstract send(mail: Mail): Promise<void>;
}
