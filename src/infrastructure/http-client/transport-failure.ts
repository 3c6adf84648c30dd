import { errors } from 'undici';

/** Why a request got no answer; stable, published. */
export const TRANSPORT_FAILURES = ['TIMEOUT', 'DNS', 'TLS', 'REFUSED', 'RESET', 'FORBIDDEN_ADDRESS'] as const;
export type TransportFailure = (typeof TRANSPORT_FAILURES)[number];

/**
 * Why a request got no answer, in words that the receiver's owner may read: never made of an error's own
 * text, which tells addresses and internals.
 */
export class TransportError extends Error {
  constructor(
    readonly failure: TransportFailure,
    readonly explanation: string,
    options?: ErrorOptions,
  ) {
    super(explanation, options);
  }
}

export const NO_ANSWER = new TransportError('TIMEOUT', 'No answer came within 10 seconds.');
export const NO_CONNECTION = new TransportError('TIMEOUT', 'No connection could be made within 3 seconds.');
export const NO_HANDSHAKE = new TransportError(
  'TIMEOUT',
  'The TLS handshake was not finished within 3 seconds.',
);
export const UNRESOLVED = new TransportError('DNS', 'The host name could not be resolved.');
export const FORBIDDEN_URL = new TransportError('FORBIDDEN_ADDRESS', 'The URL is not a public https URL.');
export const FORBIDDEN_ADDRESS = new TransportError(
  'FORBIDDEN_ADDRESS',
  'The host name leads to an address that is not public.',
);
export const REFUSED = new TransportError('REFUSED', 'The connection was refused.');
export const RESET = new TransportError('RESET', 'The connection was closed before an answer came.');
const NOT_HTTP = new TransportError('RESET', 'What came was not an HTTP answer.');

const NO_SECURE_CONNECTION = 'A secure connection could not be established.';

/** Codes of OpenSSL and Node.js for certificates that people meet. */
const CERTIFICATE_FAULTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'The certificate has expired.',
  CERT_NOT_YET_VALID: 'The certificate is not valid yet.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is self-signed.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate comes from an authority that is not trusted.',
  UNABLE_TO_GET_ISSUER_CERT: 'The chain of certificates is incomplete.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The chain of certificates is incomplete, or its authority not trusted.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The chain of certificates is incomplete, or its authority not trusted.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another host name.',
};

/** What went wrong while TCP connected. */
export function connectFailure(error: unknown): TransportError {
  if (error instanceof TransportError) return error;
  const code = codeOf(error);
  if (code === 'ETIMEDOUT') return NO_CONNECTION;
  if (code === 'ECONNRESET') return RESET;
  return REFUSED;
}

/** What went wrong in the TLS handshake. */
export function handshakeFailure(error: unknown): TransportError {
  if (error instanceof TransportError) return error;
  return new TransportError('TLS', CERTIFICATE_FAULTS[codeOf(error)] ?? NO_SECURE_CONNECTION, {
    cause: error,
  });
}

/** What went wrong after the connection stood. */
export function exchangeFailure(error: unknown): TransportError {
  if (error instanceof TransportError) return error;
  return isNotHttp(error) ? NOT_HTTP : RESET;
}

/** An error of this code or of who calls it, such as a header that cannot be sent; no receiver causes it. */
export function isUnexpectedError(error: unknown): boolean {
  if (error instanceof TransportError || isNotHttp(error)) return false;
  return ['', 'UND_ERR_INVALID_ARG', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'].includes(codeOf(error));
}

function isNotHttp(error: unknown): boolean {
  return error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError;
}

export function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException | undefined)?.code ?? '');
}
