import { SECRET_PATTERN } from '../crypto/index.js';

const MASK = '[REDACTED]';

/** Properties whose values are never logged, at any depth and in any letter case. */
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
  // PostgreSQL and its driver quote row values in these.
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
  // Credentials as in an Authorization header.
  /\b(?:Basic|Bearer)\s+[\w+/.~-]{8,}={0,2}/gi,
  // The user information of a URL, as in a database address.
  /(?<=\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]+:[^\s/@]+(?=@)/gi,
];

/** Masks everything that looks like a secret in free text, such as error messages of libraries. */
export function redactText(text: string): string {
  return SECRET_TEXTS.reduce((redacted, pattern) => redacted.replace(pattern, MASK), text);
}
