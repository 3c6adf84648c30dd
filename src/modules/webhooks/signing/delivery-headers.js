import { serviceSignature } from './service-signature.js';
import { standardSignatures } from './standard-webhooks.js';
const USER_AGENT = 'MerchantConnectivityService-Webhooks/1.0';
/** Returns all headers of one delivery attempt (specification, "Events"). */
export function deliveryHeaders(delivery) {
    const { eventId, body, now, secret, otherSecrets = [] } = delivery;
    const contentLength = body.length;
    const timestampSeconds = Math.floor(now.getTime() / 1000);
    return {
        'Content-Type': 'application/json',
        'Content-Length': String(contentLength),
        'Encryption-Type': 'HMAC-SHA256',
        'Service-Signature': serviceSignature({ ...delivery, contentLength }, secret),
        'User-Agent': USER_AGENT,
        'webhook-id': eventId,
        'webhook-timestamp': String(timestampSeconds),
        'webhook-signature': standardSignatures({ id: eventId, timestampSeconds, body }, [
            secret,
            ...otherSecrets,
        ]),
    };
}
