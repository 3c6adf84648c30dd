const TIMESTAMP = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$/;

/**
 * Returns whether a value is an RFC 3339 timestamp, to the second or finer (specification, "Every response"). Unlike
 * class-validator's `isRFC3339` and `isISO8601`, it rejects dates that do not exist, such as February 31. The colon of the offset
 * is optional: `strftime` and `java.time` write `+0000`.
 */
export function isTimestamp(value: unknown): value is string {
  const local = typeof value === 'string' ? TIMESTAMP.exec(value)?.[1] : undefined;
  if (local === undefined) return false;
  const time = new Date(`${local}Z`);
  if (Number.isNaN(time.getTime()) || time.toISOString().slice(0, 19) !== local) return false;
  // An offset can move a time out of the years 0 to 9999, which `toISOString()` then writes with a sign.
  return /^\d/.test(new Date(value as string).toISOString());
}

/** Writes the letters in upper case, as JavaScript reads them. RFC 3339, section 5.6, allows both. */
export function inUpperCase(value: unknown): unknown {
  return typeof value === 'string'
    ? value.replace(/(?<=^[\d-]{10})t|z$/g, (letter) => letter.toUpperCase())
    : value;
}

/**
 * Restores the plus sign of an offset, too. The query parser decodes an unescaped `+` as a space, and many clients do not escape
 * it. A space has no other meaning here.
 */
export function restoreOffset(value: unknown): unknown {
  return typeof value === 'string' ? inUpperCase(value.replace(/ (?=\d{2}:?\d{2}$)/, '+')) : value;
}
