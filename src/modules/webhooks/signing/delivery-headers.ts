import { serviceSignature } from './service-signature.js';
import { standardSignatures } from './standard-webhooks.js';

export interface Delivery {
  /** The same in every delivery of the event, so that receivers can recognize duplicates. */
  readonly eventId: string;
  readonly event: string;
  /** Only if the body has a `session_id`. */
  readonly sessionId?: string | null;
  readonly body: Buffer;
  /** The time of this attempt: receivers reject old signatures, and a retry is minutes later. */
  readonly now: Date;
  /** The client's active secret. */
  readonly secret: string;
  /** The client's other valid secret during a rotation. `Service-Signature` has no room for a second signature. */
  readonly otherSecrets?: readonly string[];
}

const USER_AGENT = 'MerchantConnectivityService-Webhooks/1.0';

/** Returns all headers of one delivery attempt (specification, "Events"). */
export function deliveryHeaders(delivery: Delivery): Record<string, string> {
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
