/** Characters that break a line, control a terminal, or change the direction of a text. */
const CONTROL_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** The same without the line breaks that `JSON.stringify` adds; those in values are escaped already. */
const CONTROL_CHARACTERS_IN_JSON = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** Control characters without tabs and line breaks, which a cell of a table may contain. */
const CONTROL_CHARACTERS_IN_CELLS = /(?!\t|\n|\r\n)\p{Cc}/gu;

/** Most texts of an export, which the patterns above would take ten times as long to search. */
const PLAIN = /^[ -~]*$/;

/**
 * Returns a text in one line, with its control characters as `\u{1b}`. Clients and users choose a part of what commands print,
 * such as user IDs, and could otherwise forge lines.
 */
export function printableText(text: string): string {
  return text.replace(CONTROL_CHARACTERS, escaped);
}

/** Returns the text of a cell in a table, without characters that control a terminal. */
export function printableCell(text: string): string {
  return PLAIN.test(text) ? text : text.replace(CONTROL_CHARACTERS_IN_CELLS, escaped);
}

/** Returns JSON with its control characters escaped, which does not change its value. */
export function printableJson(value: unknown, indentation = 0): string {
  const json = JSON.stringify(value, null, indentation);
  if (PLAIN.test(json)) return json;
  return json.replace(CONTROL_CHARACTERS_IN_JSON, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
