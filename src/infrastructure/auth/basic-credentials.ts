import { isWellFormedSecret } from '../crypto/index.js';

export interface BasicCredentials {
  readonly clientId: string;
  readonly secret: string;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses `Authorization: Basic <base64 of client_id:secret>` (RFC 7617): the scheme in any case, strict base64 and
 * UTF-8, split at the first colon.
 *
 * @returns undefined when the header is anything else
 */
export function parseBasicCredentials(header: string | undefined): BasicCredentials | undefined {
  const encoded = /^basic +(\S+) *$/i.exec(header ?? '')?.[1];
  if (!encoded) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  // Accept one spelling of each value. Node.js ignores missing padding, stray bits and foreign characters.
  if (bytes.toString('base64') !== encoded) return undefined;
  let decoded: string;
  try {
    decoded = utf8.decode(bytes);
  } catch {
    return undefined;
  }
  const colon = decoded.indexOf(':');
  if (colon < 0) return undefined;
  return { clientId: decoded.slice(0, colon), secret: decoded.slice(colon + 1) };
}

/**
 * Returns a header that passport-http reads without loss: it cuts the secret at a second colon and does not verify
 * empty parts. The encoding keeps valid credentials as they are and maps no other credentials to them.
 */
export function formatBasicCredentials({ clientId, secret }: BasicCredentials): string {
  const parts = [clientId, secret].map((part) => encodeURIComponent(part) || '%');
  return `Basic ${Buffer.from(parts.join(':')).toString('base64')}`;
}

/**
 * Returns the message about a header without credentials in the right form. It depends on nothing but the form of the
 * request.
 *
 * @returns undefined if the header contains both halves; whether they are right must not be told apart
 */
export function describeMissingCredentials(header: string | undefined): string | undefined {
  if (!header) {
    return 'The request has no credentials. Send client_id and secret with the Basic scheme in the Authorization header.';
  }
  if (!/^basic\b/i.test(header))
    return 'The Authorization header must use the Basic scheme, with client_id and secret.';
  if (!parseBasicCredentials(header))
    return 'The Basic credentials are malformed: send the base64 encoding of client_id:secret.';
  return undefined;
}

/**
 * Describes the probable mistake in a header that was rejected. For the operators' log only: the response must not
 * help an attacker. Never quotes the header.
 */
export function describeInvalidHeader(header: string | undefined): string {
  if (header === undefined) return 'no Authorization header';
  if (/^bearer\b/i.test(header)) return 'a Bearer token where client_id and secret belong';
  if (!/^basic\b/i.test(header)) return 'Authorization without the Basic scheme';
  if (/^basic +[^ ]+:/i.test(header)) return 'credentials that are not encoded in base64';
  const credentials = parseBasicCredentials(header);
  if (!credentials) return 'credentials that are not base64 of client_id:secret';
  if (!isWellFormedSecret(credentials.secret)) return 'a secret in an unknown format, or an incomplete one';
  return 'wrong client_id or secret';
}
