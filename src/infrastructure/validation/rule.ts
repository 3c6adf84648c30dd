/** A field under validation: what it is called, and the object that it belongs to. */
export interface FieldContext {
  /** The field's name with spaces, as messages spell it (contract, "Messages"). */
  readonly words: string;
  readonly object: Readonly<Record<string, unknown>>;
}

/** Looks at a present value; answers the message for the caller when the value breaks the rule. */
export type Rule = (value: unknown, field: FieldContext) => string | undefined;

/** A field's name as messages spell it. */
export function wordsOf(property: string): string {
  return property.replaceAll('_', ' ');
}

/** `null`, absent and blank count as missing (contract, "Messages"). */
export function isMissing(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

/** What is said of a field that is missing. */
export function required(field: FieldContext): string {
  return `The ${field.words} field is required.`;
}

/** The message of the first rule that the value breaks. */
export function firstViolation(
  value: unknown,
  field: FieldContext,
  rules: readonly Rule[],
): string | undefined {
  for (const rule of rules) {
    const message = rule(value, field);
    if (message !== undefined) return message;
  }
  return undefined;
}
