import { SECRET_PATTERN } from '../crypto/index.js';

const MASK = '[REDACTED]';

/** Properties whose values never reach a log line, at any depth, in any case. */
export const REDACTED_PROPERTIES: readonly string[] = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'password',
  'secret',
  'token',
  'access_token',
  'device_code',
  'user_code',
  'pepper',
  'phone_number',
  'email',
  // Where PostgreSQL and its driver quote the values of a row.
  'detail',
  'parameters',
  'where',
  'query',
  'internalQuery',
];

const SECRET_TEXTS: readonly RegExp[] = [
  SECRET_PATTERN,
  // A JWT: two JSON objects in base64url and a signature.
  /\beyJ[\w-]+\.eyJ[\w-]+\.[\w-]*/g,
  // Credentials as a header carries them.
  /\b(?:Basic|Bearer)\s+[\w+/.~-]{8,}={0,2}/gi,
  // The user information of a URL, as in a database address.
  /(?<=\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]+:[^\s/@]+(?=@)/gi,
];

/** Masks what looks like a secret in free text, such as the message of somebody else's error. */
export function redactText(text: string): string {
  return SECRET_TEXTS.reduce((redacted, pattern) => redacted.replace(pattern, MASK), text);
}
