import { isWellFormedSecret } from '../crypto/index.js';

export interface BasicCredentials {
  readonly clientId: string;
  readonly secret: string;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads `Authorization: Basic <base64 of client_id:secret>` (RFC 7617): the scheme in any case, strict
 * base64 and UTF-8, split at the first colon.
 *
 * @returns undefined when the header is not that
 */
export function parseBasicCredentials(header: string | undefined): BasicCredentials | undefined {
  const encoded = /^basic +(\S+) *$/i.exec(header ?? '')?.[1];
  if (!encoded) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  // One spelling for each value: padding included, no bit to spare. Node.js itself takes nearly anything.
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
 * What the caller probably did wrong with the header. For the operators' log alone: the answer must
 * not help somebody who guesses. Never quotes the header.
 */
export function describeInvalidHeader(header: string | undefined): string {
  if (header === undefined) return 'no Authorization header';
  if (/^bearer\b/i.test(header)) return 'a Bearer token where client_id and secret belong';
  if (!/^basic\b/i.test(header)) return 'Authorization without the Basic scheme';
  if (/^basic +[^ ]+:/i.test(header)) return 'credentials that are not encoded in base64';
  const credentials = parseBasicCredentials(header);
  if (!credentials) return 'credentials that are not base64 of client_id:secret';
  if (!isWellFormedSecret(credentials.secret)) return 'a secret that is not one of ours, or not whole';
  return 'wrong client_id or secret';
}
