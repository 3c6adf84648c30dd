const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** This bit distinguishes the brackets of arrays from those of objects. */
const BRACE = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;
const SPACES = /[\t\n\r ]*/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const CHARACTERS = /[ !#-[\]-\uffff]*/y;
const ESCAPES = /(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))+/y;

/** The properties that make a JSON text expensive, besides its length. */
export interface JsonSize {
  /** Members and items at all levels together. */
  readonly values: number;
  /** Levels of objects and arrays. */
  readonly depth: number;
}

/**
 * Measures a JSON text, before it is parsed. Reads each byte at most once and stops as soon as a limit is exceeded: parsing and
 * validating half a megabyte of tiny members would take a hundred times as long. The size of a text that is not valid JSON
 * has no meaning.
 */
export function jsonSize(text: Uint8Array, limits: JsonSize): JsonSize {
  let values = 0;
  let depth = 0;
  let deepest = 0;
  let isString = false;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at] as number;
    if (isString) {
      if (byte === BACKSLASH) at += 1;
      else isString = byte !== QUOTE;
    } else if (byte === QUOTE) {
      isString = true;
    } else if (byte === COMMA || (byte | BRACE) === OPENING) {
      values += 1;
      if (byte !== COMMA) depth += 1;
      deepest = Math.max(deepest, depth);
      if (values > limits.values || depth > limits.depth) break;
    } else if ((byte | BRACE) === CLOSING) {
      depth -= 1;
    }
  }
  return { values, depth: deepest };
}

/**
 * Returns whether a text is JSON (RFC 8259), without an error of V8: a text that `JSON.parse` refuses stays in memory until all
 * garbage is collected, as the source of the error (docs/decisions/0041-hostile-input.md). Recursive: limit the depth before.
 */
export function isJson(text: string): boolean {
  let at = 0;
  const take = (token: RegExp): boolean => {
    token.lastIndex = at;
    const isFound = token.test(text);
    if (isFound) at = token.lastIndex;
    return isFound;
  };
  const takeSymbol = (symbol: string): boolean => {
    take(SPACES);
    const isFound = text[at] === symbol;
    if (isFound) at += 1;
    return isFound;
  };
  const takeString = (): boolean => {
    if (!takeSymbol('"')) return false;
    do take(CHARACTERS);
    while (take(ESCAPES));
    if (text[at] !== '"') return false;
    at += 1;
    return true;
  };
  const takeMember = (): boolean => takeString() && takeSymbol(':') && takeValue();
  const takeRest = (end: string, takeItem: () => boolean): boolean => {
    if (takeSymbol(end)) return true;
    while (takeItem()) if (!takeSymbol(',')) return takeSymbol(end);
    return false;
  };
  const takeValue = (): boolean => {
    if (takeSymbol('{')) return takeRest('}', takeMember);
    if (takeSymbol('[')) return takeRest(']', takeValue);
    return takeString() || take(SCALAR);
  };
  const isValue = takeValue();
  take(SPACES);
  return isValue && at === text.length;
}
