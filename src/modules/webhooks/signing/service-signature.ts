import { createHmac } from 'node:crypto';

/** The signed parts of a delivery (specification, "Signature"): the length of the body, not its bytes. */
export interface SignedParts {
  readonly event: string;
  /** Not signed if the body has none. */
  readonly sessionId?: string | null;
  /** Size of the body in bytes. */
  readonly contentLength: number;
}

/** Returns the header `Service-Signature`: the HMAC-SHA256 with the client secret, in base64. */
export function serviceSignature(parts: SignedParts, secret: string): string {
  return createHmac('sha256', secret).update(signedString(parts)).digest('base64');
}

function signedString({ event, sessionId, contentLength }: SignedParts): string {
  const signed = [
    ['Content-Length', String(contentLength)],
    ['Content-Type', 'application/json'],
    ['Encryption-Type', 'HMAC-SHA256'],
    ['event', event],
    ...(sessionId ? [['session_id', sessionId]] : []),
  ];
  return signed.flat().join('|');
}
