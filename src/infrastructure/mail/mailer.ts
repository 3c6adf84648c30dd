/** A plain text email to one recipient. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Ends the text of every email. */
export const SIGNATURE = '-- \nMerchant Connectivity';

/** Port for sending emails. */
export abstract class Mailer {
  /** Resolves when the SMTP server has accepted the email or the file is written. Rejects otherwise. */
  abstract send(mail: Mail): Promise<void>;
}
