import { serviceSignature } from './service-signature.js';
import { standardSignature } from './standard-webhooks.js';

export interface Delivery {
  /** The same in every delivery of the event, so that receivers recognise what they have had. */
  readonly eventId: string;
  readonly event: string;
  /** Where the body has a `session_id`. */
  readonly sessionId?: string;
  readonly body: Buffer;
  /** When this attempt is made: a receiver refuses a signature that is too old, and a retry is minutes later. */
  readonly now: Date;
  /** The client secret that signs at present. */
  readonly secret: string;
}

const USER_AGENT = 'MerchantConnectivityService-Webhooks/1.0';

/** The headers of one attempt to deliver an event (contract, section 5), and no others. */
export function deliveryHeaders({
  eventId,
  event,
  sessionId,
  body,
  now,
  secret,
}: Delivery): Record<string, string> {
  const contentLength = body.length;
  const timestampSeconds = Math.floor(now.getTime() / 1000);
  return {
    'Content-Type': 'application/json',
    'Content-Length': String(contentLength),
    'Encryption-Type': 'HMAC-SHA256',
    'Service-Signature': serviceSignature(
      { event, contentLength, ...(sessionId !== undefined && { sessionId }) },
      secret,
    ),
    'User-Agent': USER_AGENT,
    'webhook-id': eventId,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': standardSignature({ id: eventId, timestampSeconds, body }, secret),
  };
}
