import { createHmac } from 'node:crypto';

/** The signed parts of a message in the Standard Webhooks specification. */
export interface SignedMessage {
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: Buffer;
}

/**
 * Returns the symmetric signature (Standard Webhooks 1.0.0, "Signature scheme"). The key of an API client is the UTF-8 text of its
 * secret; the secret is not decoded from base64.
 */
export function standardSignature(
  { id, timestampSeconds, body }: SignedMessage,
  key: string | Buffer,
): string {
  const signature = createHmac('sha256', key).update(`${id}.${timestampSeconds}.`).update(body);
  return `v1,${signature.digest('base64')}`;
}
