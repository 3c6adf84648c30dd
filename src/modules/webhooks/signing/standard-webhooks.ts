import { createHmac } from 'node:crypto';

/** What the signature of the Standard Webhooks specification covers: which message, when it was sent, every byte. */
export interface SignedMessage {
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: Buffer;
}

/**
 * The header `webhook-signature` (Standard Webhooks 1.0.0, "Signature scheme", symmetric). The key is the client
 * secret as it is, in UTF-8: not what its letters would be as base64.
 */
export function standardSignature({ id, timestampSeconds, body }: SignedMessage, secret: string): string {
  const signature = createHmac('sha256', secret).update(`${id}.${timestampSeconds}.`).update(body);
  return `v1,${signature.digest('base64')}`;
}
