import { isWellFormedSecret } from '../crypto/index.js';
import { INVALID_API_KEYS } from './auth-errors.js';

/** RFC 7617, section 2.1: `charset` asks clients to encode in UTF-8. */
const CHALLENGE = 'Basic realm="Platform API", charset="UTF-8"';

export interface BasicCredentials {
  readonly clientId: string;
  readonly secret: string;
}

export interface HeaderProblem {
  /** For the client. Depends on nothing but the form of the request. */
  readonly message: string;
  /** The probable mistake, for the operators' log only. Never quotes the header. */
  readonly hint: string;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const NO_HEADER =
  'The request has no credentials. Send client_id and secret with the Basic scheme in the Authorization header.';
const OTHER_SCHEME = 'The Authorization header must use the Basic scheme, with client_id and secret.';
/** For a Bearer token where API keys are accepted as such, too: the scheme is not at fault. */
export const REFUSED_TOKEN: HeaderProblem = {
  message:
    'The Bearer token is not accepted. Send an API key, an access token that was issued for one, or client_id and secret with the Basic scheme.',
  hint: 'a Bearer token that is no API key or access token of one',
};
const MALFORMED = 'The Basic credentials are malformed: send the base64 encoding of client_id:secret.';

/**
 * Reads `Authorization: Basic <base64 of client_id:secret>` (RFC 7617): the scheme in any case, strict base64 and
 * UTF-8, split at the first colon.
 */
export function readBasicCredentials(header: string | undefined): BasicCredentials | HeaderProblem {
  if (header === undefined) return { message: NO_HEADER, hint: 'no Authorization header' };
  if (!/^basic\b/i.test(header)) {
    const hint = /^bearer\b/i.test(header)
      ? 'a Bearer token where client_id and secret belong'
      : 'Authorization without the Basic scheme';
    return { message: header === '' ? NO_HEADER : OTHER_SCHEME, hint };
  }
  if (/^basic +[^ ]+:/i.test(header))
    return { message: MALFORMED, hint: 'credentials that are not encoded in base64' };
  const decoded = decode(/^basic +(\S+) *$/i.exec(header)?.[1] ?? '');
  const colon = decoded?.indexOf(':') ?? -1;
  if (decoded === undefined || colon < 0)
    return { message: MALFORMED, hint: 'credentials that are not base64 of client_id:secret' };
  return { clientId: decoded.slice(0, colon), secret: decoded.slice(colon + 1) };
}

/** Accepts one spelling of each value. Node.js ignores missing padding, stray bits and foreign characters. */
function decode(encoded: string): string | undefined {
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

type DecodeCredentials = (credentials: BasicCredentials) => BasicCredentials;
export const asSent: DecodeCredentials = (credentials) => credentials;

/** Returns the credentials as OAuth libraries mean them, which form-encode both parts (RFC 6749, section 2.3.1). */
export function formDecoded({ clientId, secret }: BasicCredentials): BasicCredentials {
  try {
    return { clientId: decodeURIComponent(clientId), secret: decodeURIComponent(secret) };
  } catch {
    return { clientId, secret };
  }
}

/** Describes the probable mistake in credentials that were rejected, for the operators' log only. */
export function describeWrongCredentials({ secret }: BasicCredentials): string {
  if (!isWellFormedSecret(secret)) return 'a secret in an unknown format, or an incomplete one';
  return 'wrong client_id or secret';
}

/** The error for credentials of a client that are wrong, missing, or have ended since the request was admitted. */
export function invalidCredentials(message?: string): Error {
  return INVALID_API_KEYS.error(message, { headers: { 'WWW-Authenticate': CHALLENGE } });
}
