import { createHmac } from 'node:crypto';
import { standardSignature } from '../../../infrastructure/crypto/index.js';
import { VERSION } from '../../../infrastructure/project-files/index.js';
import type { MessageSigner } from '../../webhook-endpoints/index.js';

export interface DeliveryToSign {
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
  /** The keys that make `webhook-signature`, unless only the client's secrets do; undefined stands for the secrets. */
  readonly signers?: readonly (MessageSigner | undefined)[];
  /** The endpoint's own headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

const USER_AGENT = `MerchantConnectivityService-Webhooks/${VERSION}`;

/** Returns all headers of one delivery attempt (specification, "Events"). */
export function deliveryHeaders(delivery: DeliveryToSign): Record<string, string> {
  const { eventId, body, now, secret, otherSecrets = [], signers = [undefined], headers } = delivery;
  const contentLength = body.length;
  const timestampSeconds = Math.floor(now.getTime() / 1000);
  const message = { id: eventId, timestampSeconds, body };
  const signatures = signers.flatMap((sign) =>
    sign ? [sign(message)] : [secret, ...otherSecrets].map((each) => standardSignature(message, each)),
  );
  return {
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': String(contentLength),
    'Encryption-Type': 'HMAC-SHA256',
    'Service-Signature': serviceSignature({ ...delivery, contentLength }, secret),
    'User-Agent': USER_AGENT,
    'webhook-id': eventId,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures.join(' '),
  };
}

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
