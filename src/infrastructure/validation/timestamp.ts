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

/** The name of a time zone behind an offset (RFC 9557), which `ZonedDateTime` of Java and `Temporal` of JavaScript write. */
const ZONE_NAME = /\[[^[\]]{1,64}\]$/;

/**
 * Writes a time in the one form that JavaScript reads: with a `T` and a `Z` in upper case, where RFC 3339, section 5.6, also allows lower
 * case and a space, as Python writes; with seconds, which java.time leaves out when they are zero; with minutes in the offset, which
 * PostgreSQL leaves out; and without the name of a zone. Returns other values unchanged.
 */
export function readTimestamp(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return value
    .replace(ZONE_NAME, '')
    .replace(/(?<=^[\d-]{10})[t ](?=\d)/, 'T')
    .replace(/(?<=\d)z$/, 'Z')
    .replace(/(?<=^[\d-]{10}T\d\d:\d\d)(?=Z|[+-])/, ':00')
    .replace(/(?<=^[\d-]{10}T[\d:.]{8,18}[+-]\d\d)$/, ':00');
}

/**
 * Restores the plus sign of an offset, too. The query parser decodes an unescaped `+` as a space, and many clients do not escape
 * it. Before an offset, a space has no other meaning.
 */
export function restoreOffset(value: unknown): unknown {
  return typeof value === 'string'
    ? readTimestamp(value.replace(/(?<=\d:\d\d(?:[:.][\d.]{1,15})?) (?=\d\d(?::?\d\d)?(?:\[|$))/, '+'))
    : value;
}
