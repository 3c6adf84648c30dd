/**
 * Parses a URL with the WHATWG parser. Returns undefined if the text is not a URL.
 *
 * Replaces `URL.canParse`, which is wrong in Node.js 20 once the calling function is compiled: its fast path reads
 * Latin-1 as UTF-8, so text with letters such as ä is accepted at first and rejected later.
 */
export function parsedUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
