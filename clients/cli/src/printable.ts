/** Characters that break a line, control a terminal, or change the direction of a text. */
const CONTROL_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** The same without the line breaks that `JSON.stringify` adds; those in values are escaped already. */
const CONTROL_CHARACTERS_IN_JSON = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Returns a text in one line, with its control characters as `\u{1b}`. Users and receivers choose a part of what this program
 * prints, and could otherwise forge lines.
 */
export function printable(text: string): string {
  return text.replace(CONTROL_CHARACTERS, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Returns JSON with its control characters escaped, which does not change its value. */
export function printableJson(value: unknown, indentation = 0): string {
  return JSON.stringify(value, null, indentation).replace(CONTROL_CHARACTERS_IN_JSON, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
