import type { ErrorCode } from '../errors/index.js';

/** Returns the value of the `Link` header that points to the documentation of an error (RFC 8288). */
export function helpLink(code: ErrorCode): string {
  return `</docs/errors#${code.toLowerCase()}>; rel="help"`;
}
