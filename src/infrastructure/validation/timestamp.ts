const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?Z$/;

/**
 * Returns whether a value is a time in ISO 8601 and UTC, to the second or finer (specification, "Every response"). Unlike
 * class-validator's `isRFC3339` and `isISO8601`, it rejects dates that do not exist, such as February 31.
 */
export function isTimestamp(value: unknown): value is string {
  if (typeof value !== 'string' || !TIMESTAMP.test(value)) return false;
  const time = new Date(value);
  return !Number.isNaN(time.getTime()) && time.toISOString().slice(0, 19) === value.slice(0, 19);
}
