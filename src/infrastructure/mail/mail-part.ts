/** A part of an email: a paragraph, or one of the others. */
export type MailPart =
  | string
  /** A link to a page of the service. In HTML it looks like a button. */
  | { readonly link: string; readonly label: string }
  /** Names and values. */
  | { readonly facts: Readonly<Record<string, string>> }
  /** What to do, in order. */
  | { readonly steps: readonly string[] };
