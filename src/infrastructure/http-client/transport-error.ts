import { errors } from 'undici';
import type { Phase } from './stopwatch.js';

/** Why a request got no response. Stable and published. */
export const TRANSPORT_FAILURES = [
  'TIMEOUT',
  'DNS',
  'TLS',
  'REFUSED',
  'RESET',
  'NOT_HTTP',
  'HEADERS_TOO_LARGE',
  'FORBIDDEN_ADDRESS',
] as const;
export type TransportFailure = (typeof TRANSPORT_FAILURES)[number];

/** Where a request failed. `unknown`: at the receiver, or on the way to it, which this side may have broken. */
export type Fault = 'theirs' | 'ours' | 'unknown';

/**
 * Why a request got no response, explained to the owner of the receiver. The explanation never contains the
 * text of the original error, which may reveal addresses and internals.
 */
export class TransportError extends Error {
  constructor(
    readonly failure: TransportFailure,
    readonly explanation: string,
    options?: ErrorOptions,
    readonly fault: Fault = 'theirs',
  ) {
    super(explanation, options);
  }
}

const RESPONSE_TIMEOUT = new TransportError('TIMEOUT', 'No response arrived within 10 seconds.');
const CONNECT_TIMEOUT = new TransportError(
  'TIMEOUT',
  'No connection could be established within 10 seconds.',
);
const HANDSHAKE_TIMEOUT = new TransportError(
  'TIMEOUT',
  'The TLS handshake did not finish within 10 seconds.',
);
export const UNRESOLVED = new TransportError('DNS', 'The host name could not be resolved.');
/** The servers of the domain or those of this service. */
export const NO_DNS_ANSWER = new TransportError(
  'DNS',
  'The host name could not be resolved: the DNS servers failed, or did not respond.',
  undefined,
  'unknown',
);
export const FORBIDDEN_URL = new TransportError('FORBIDDEN_ADDRESS', 'The URL is not a public https URL.');
export const FORBIDDEN_ADDRESS = new TransportError(
  'FORBIDDEN_ADDRESS',
  'The host name resolves to an address that is not public.',
);
export const REFUSED = new TransportError('REFUSED', 'The connection was refused.');
/** A proxy gave up. It may have tried for longer or for a shorter time than this service does. */
export const NOT_OPENED_IN_TIME = new TransportError(
  'TIMEOUT',
  'No connection could be established in time.',
  undefined,
  'unknown',
);
/** A proxy did not say why, or whether the host name could be resolved. */
export const NO_CONNECTION = new TransportError(
  'REFUSED',
  'No connection could be established: the host name could not be resolved, or the host refused the connection or cannot be reached.',
  undefined,
  'unknown',
);
const UNREACHABLE = new TransportError('REFUSED', 'The host cannot be reached.', undefined, 'unknown');
export const NOT_OPENED = new TransportError(
  'REFUSED',
  'The service could not open a connection.',
  undefined,
  'ours',
);
export const RESET = new TransportError('RESET', 'The connection was closed before a response arrived.');
const NOT_HTTP = new TransportError('NOT_HTTP', 'The response is not valid HTTP.');
const HEADERS_TOO_LARGE = new TransportError(
  'HEADERS_TOO_LARGE',
  'The headers of the response are longer than 16 KiB.',
);
/** The headers and what comes before them, such as interim responses. */
export const TOO_MUCH = new TransportError(
  'HEADERS_TOO_LARGE',
  'Too much data, or data in too many small pieces, arrived before the response was complete.',
);

const NO_SECURE_CONNECTION = 'A secure connection could not be established.';

/** Sentences for the most common certificate errors of OpenSSL and Node.js. */
const CERTIFICATE_ERRORS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'The certificate has expired.',
  CERT_NOT_YET_VALID: 'The certificate is not valid yet.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is self-signed.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate was issued by an authority that is not trusted.',
  UNABLE_TO_GET_ISSUER_CERT: 'The certificate chain is incomplete.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The certificate chain is incomplete, or its authority is not trusted.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The certificate chain is incomplete, or its authority is not trusted.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another host name.',
};

/** The phase says whose time ran out: the network, TLS or the receiver. */
export function timeoutIn(phase: Phase | undefined): TransportError {
  if (phase === 'connect') return CONNECT_TIMEOUT;
  return phase === 'tls' ? HANDSHAKE_TIMEOUT : RESPONSE_TIMEOUT;
}

/** Returns the explanation of a timeout for requests that have less time. */
export function withSeconds(explanation: string | null, seconds: number): string | null {
  return explanation?.replace('within 10 seconds', `within ${seconds} seconds`) ?? null;
}

const UNREACHABLE_CODES: ReadonlySet<string> = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN']);

/** Names the cause of a connection that was not opened. */
export function connectError(error: unknown): TransportError {
  if (error instanceof TransportError) return error;
  const code = codeOf(error);
  if (code === 'ETIMEDOUT') return CONNECT_TIMEOUT;
  if (code === 'ECONNRESET') return RESET;
  if (code === 'ECONNREFUSED') return REFUSED;
  return UNREACHABLE_CODES.has(code) ? UNREACHABLE : NOT_OPENED;
}

/** Names the cause of a failed TLS handshake. */
export function handshakeError(error: unknown): TransportError {
  if (error instanceof TransportError) return error;
  return new TransportError('TLS', CERTIFICATE_ERRORS[codeOf(error)] ?? NO_SECURE_CONNECTION, {
    cause: error,
  });
}

/** Names the cause of a request that failed on an open connection. */
export function exchangeError(error: unknown): TransportError {
  if (error instanceof TransportError) return error;
  if (error instanceof errors.HeadersOverflowError) return HEADERS_TOO_LARGE;
  return error instanceof errors.HTTPParserError ? NOT_HTTP : RESET;
}

/** Returns whether the error is a bug of this service, such as a header that cannot be sent. No receiver can cause one. */
export function isUnexpectedError(error: unknown): boolean {
  if (error instanceof TransportError || error instanceof errors.HTTPParserError) return false;
  return ['', 'UND_ERR_INVALID_ARG', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'].includes(codeOf(error));
}

/** Empty for an error without a code. */
export function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException | undefined)?.code ?? '');
}
