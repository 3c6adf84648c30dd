import { printableJson, printableText } from '../infrastructure/logging/index.js';

/** Exit codes: `failed` (standard error says why) and `incomplete` (some input was skipped). */
export const EXIT = { failed: 1, incomplete: 2 } as const;

/** Prints the result of a command on standard output, as JSON that people can read too. */
export function printResult(value: unknown): void {
  process.stdout.write(`${printableJson(value, 2)}\n`);
}

/** Prints a sentence about the work, or about a problem, on standard error. */
export function printSentence(sentence: string): void {
  process.stderr.write(`${printableText(sentence)}\n`);
}
