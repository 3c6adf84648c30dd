import { createHmac } from 'node:crypto';
/** Returns the header `Service-Signature`: the HMAC-SHA256 with the client secret, in base64. */
export function serviceSignature(parts, secret) {
    return createHmac('sha256', secret).update(signedString(parts)).digest('base64');
}
function signedString({ event, sessionId, contentLength }) {
    const signed = [
        ['Content-Length', String(contentLength)],
        ['Content-Type', 'application/json'],
        ['Encryption-Type', 'HMAC-SHA256'],
        ['event', event],
        ...(sessionId ? [['session_id', sessionId]] : []),
    ];
    return signed.flat().join('|');
}
