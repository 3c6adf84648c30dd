import { createHmac } from 'node:crypto';

/** The signed parts of a delivery (specification, "Signature"): the length of the body, not its bytes. */
interface SignedParts {
  readonly event: string;
  /** Not signed if the body has none. */
  readonly sessionId?: string | null;
  /** Size of the body in bytes. */
  readonly contentLength: number;
}

/** Returns the header `Service-Signature`: the HMAC-SHA256 with the client secret, in base64. */
export function serviceSignature(parts: SignedParts, secret: string): string {
  const { event, sessionId, contentLength } = parts;
  const signed = [
    ['Content-Length', contentLength],
    ['Content-Type', 'application/json'],
    ['Encryption-Type', 'HMAC-SHA256'],
    ['event', event],
    ...(sessionId ? [['session_id', sessionId]] : []),
  ];
  return createHmac('sha256', secret).update(signed.flat().join('|')).digest('base64');
}
