import { createHmac } from 'node:crypto';

/** What the signature of a delivery covers (specification, "Signature"): the length of the body, not its bytes. */
export interface SignedParts {
  readonly event: string;
  /** Left out of what is signed where the body has none. */
  readonly sessionId?: string;
  /** Bytes of the whole body. */
  readonly contentLength: number;
}

/** The header `Service-Signature`: base64 of the HMAC-SHA256 under the client secret. */
export function serviceSignature(parts: SignedParts, secret: string): string {
  return createHmac('sha256', secret).update(signedString(parts)).digest('base64');
}

function signedString({ event, sessionId, contentLength }: SignedParts): string {
  const signed = [
    ['Content-Length', String(contentLength)],
    ['Content-Type', 'application/json'],
    ['Encryption-Type', 'HMAC-SHA256'],
    ['event', event],
    ...(sessionId === undefined ? [] : [['session_id', sessionId]]),
  ];
  return signed.flat().join('|');
}
