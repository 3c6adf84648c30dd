/** Names of encodings whose text is UTF-8, as programs write them. ASCII is a part of UTF-8. */
export const UTF8 = /^(?:(?:unicode-1-1-)?utf[-_]?8|(?:us-)?ascii)$/i;

/**
 * Returns whether the `Content-Type` is of this media type, with any parameters (RFC 9110, section 8.3.1). Only a `charset` says how to
 * read the body; without one, it is UTF-8.
 */
export function isMediaType(contentType = '', type: RegExp, charsets = UTF8): boolean {
  const [, name = '', parameters = ''] = /^([^;]*)(.*)$/.exec(withoutRepetition(contentType)) ?? [];
  const charset = /;\s*charset\s*=\s*["']?([^"';\s]*)/i.exec(parameters)?.[1] ?? '';
  return type.test(name.trim()) && (charset === '' || charsets.test(charset));
}

/** Some proxies join a header that was sent twice into a list. */
function withoutRepetition(contentType: string): string {
  if (!contentType.includes(',')) return contentType;
  const [value = '', ...others] = new Set(contentType.split(',').map((each) => each.trim()));
  return others.length === 0 ? value : contentType;
}
