/** What a page calls the fields of its forms. */
export class FieldLabels {
  private readonly labels = new Map<string, string>();
  /** The fields whose values the page lists. */
  private readonly choices = new Set<string>();
  /** Whether a field shows why the form was not accepted, so that `FormProblem` need not. */
  hasProblemAtField = false;

  /** @param label without what follows in parentheses, such as a time zone */
  add(name: string, label: string, isChoice: boolean, showsProblem = false): void {
    this.hasProblemAtField ||= showsProblem;
    const field = inWords(name);
    this.labels.set(field, label.replace(/ \(.*\)$/, ''));
    if (isChoice) this.choices.add(field);
  }

  /**
   * Puts the labels in place of the names of fields in a message of an operation, and KiB in place of bytes. An operation names
   * fields as its request does: “The start field must not be after the end field.” is about the fields “From” and “To”.
   */
  applyTo(message: string): string {
    return message
      .replace(FIELD, (phrase, before: string, words: string) => {
        const label = this.labels.get(words);
        return label === undefined ? phrase : `${before}“${label}”`;
      })
      .replace(PARAMETER, (phrase, name: string) => {
        const label = this.labels.get(inWords(name));
        return label === undefined ? phrase : `The filter “${label}”`;
      })
      .replace(ALLOWED_VALUES, (phrase, label: string) =>
        [...this.choices].some((field) => this.labels.get(field) === label)
          ? `The selected “${label}” is invalid. Choose one from the list.`
          : phrase,
      )
      .replace(BYTES, (_, count: string) => inUnits(Number(count)));
  }
}

/** The names of fields are in lower case in messages (`MESSAGES`). */
const FIELD = /\b([Tt]he (?:selected )?)([a-z0-9 ]+?)(?= (?:fields?|format|is invalid)\b)/g;
const PARAMETER = /The query parameter (\w+)/g;
const ALLOWED_VALUES = /The selected “([^”]+)” is invalid\. Allowed values: .+\.$/s;
const BYTES = /(\d+) bytes\b/g;

/** Returns the name of a field as words, such as `external user id`. */
export function inWords(name: string): string {
  return name.replace(/\[\]$/, '').replaceAll('_', ' ');
}

const UNITS = [
  ['MiB', 1_048_576],
  ['KiB', 1_024],
] as const;

function inUnits(bytes: number): string {
  const unit = UNITS.find(([, size]) => bytes >= size && bytes % size === 0);
  return unit ? `${bytes / unit[1]} ${unit[0]}` : `${bytes} bytes`;
}
