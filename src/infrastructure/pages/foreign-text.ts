/** Invisible characters that change the direction of the text around them, or are not text. Emoji contain U+200D. */
const CONTROLS = /[\p{Cc}\u061c\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;
/** Such characters, and those of scripts that are written from right to left. */
export const NEEDS_ISOLATION =
  /[\p{Cc}\u0590-\u08ff\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufb1d-\ufdff\ufe70-\ufeff\ufff9-\ufffb\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** A result of `isolated` within a sentence. */
export const ISOLATED = /(\u2068[^\u2066-\u2069]*\u2069)/;

/**
 * Returns text that others entered, for a sentence: its direction cannot change that of the sentence (Unicode, "isolates"), and
 * invisible characters are shown as their code points.
 */
export function isolated(text: string): string {
  return NEEDS_ISOLATION.test(text) ? `\u2068${withoutControls(text)}\u2069` : text;
}

export function withoutControls(text: string): string {
  return text.replaceAll(
    CONTROLS,
    (control) => `<U+${control.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}>`,
  );
}

/** Letters at the end of a value that is shortened. */
export const TAIL_LENGTH = 8;

/** Characters of a text that is written in full elsewhere in its row. A column is seldom wider. */
const MAX_SHOWN_LENGTH = 56;

/** Returns a text without its middle, if it is long and the whole text is elsewhere: a page has dozens of them. */
export function shortened(text: string): string {
  if (text.length <= MAX_SHOWN_LENGTH) return text;
  // A pair of surrogates is one letter. Of a text as long as a file, only the ends are shown.
  const reach = 2 * MAX_SHOWN_LENGTH;
  const letters = [...(text.length > 2 * reach ? text.slice(0, reach) + text.slice(-reach) : text)];
  if (letters.length <= MAX_SHOWN_LENGTH) return text;
  return `${letters.slice(0, MAX_SHOWN_LENGTH - TAIL_LENGTH).join('')}…${letters.slice(-TAIL_LENGTH).join('')}`;
}
