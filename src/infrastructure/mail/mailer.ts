/** A mail that the service sends to one person: plain text. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Port: takes mails out of the house. */
export abstract class Mailer {
  /** Resolves when the mail is handed over; rejects when it could not be. */
  abstract send(mail: Mail): Promise<void>;
}
