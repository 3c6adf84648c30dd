import { createHmac } from 'node:crypto';
/** Returns the header `webhook-signature` with a signature by each secret. */
export function standardSignatures(message, secrets) {
    return secrets.map((secret) => standardSignature(message, secret)).join(' ');
}
/**
 * Returns one signature of the header `webhook-signature` (Standard Webhooks 1.0.0, "Signature scheme", symmetric). The key is the UTF-8
 * text of the client secret; the secret is not decoded from base64.
 */
export function standardSignature({ id, timestampSeconds, body }, secret) {
    const signature = createHmac('sha256', secret).update(`${id}.${timestampSeconds}.`).update(body);
    return `v1,${signature.digest('base64')}`;
}
