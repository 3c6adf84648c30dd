import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { SigningSecrets } from '../../api-clients/index.js';
import type { ClaimedDelivery } from '../queue/delivery.js';

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
}

const USER_AGENT = 'MerchantConnectivityService-Webhooks/1.0';

/** Returns all headers of one delivery attempt (specification, "Events"). */
export function deliveryHeaders(delivery: DeliveryToSign): Record<string, string> {
  const { eventId, body, now, secret, otherSecrets = [] } = delivery;
  const contentLength = body.length;
  const timestampSeconds = Math.floor(now.getTime() / 1000);
  const message = { id: eventId, timestampSeconds, body };
  return {
    'Content-Type': 'application/json',
    'Content-Length': String(contentLength),
    'Encryption-Type': 'HMAC-SHA256',
    'Service-Signature': serviceSignature({ ...delivery, contentLength }, secret),
    'User-Agent': USER_AGENT,
    'webhook-id': eventId,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': [secret, ...otherSecrets].map((each) => standardSignature(message, each)).join(' '),
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

/** The signed parts of a message in the Standard Webhooks specification. */
interface SignedMessage {
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: Buffer;
}

/**
 * Returns one signature of the header `webhook-signature` (Standard Webhooks 1.0.0, "Signature scheme", symmetric). The key
 * is the UTF-8 text of the client secret; the secret is not decoded from base64.
 */
export function standardSignature(
  { id, timestampSeconds, body }: SignedMessage,
  secret: string | Buffer,
): string {
  const signature = createHmac('sha256', secret).update(`${id}.${timestampSeconds}.`).update(body);
  return `v1,${signature.digest('base64')}`;
}

/** An event that is about to be sent, with the client's valid secrets. The first one is the active one. */
export interface SignableEvent extends Pick<ClaimedDelivery, 'secretVersions'> {
  readonly client: Pick<AttributedClient, 'clientId'>;
  readonly event: Pick<ClaimedDelivery['event'], 'id' | 'name' | 'sessionId' | 'body'>;
}

@Injectable()
export class EventSigner {
  constructor(
    private readonly secrets: SigningSecrets,
    private readonly clock: Clock,
  ) {}

  /** Returns all headers of one delivery of the event, which is sent now. */
  async headersOf({ client, event, secretVersions }: SignableEvent): Promise<Record<string, string>> {
    const { id: eventId, name, sessionId, body } = event;
    const [secret, ...otherSecrets] = await this.secrets.of(client.clientId, secretVersions);
    const now = this.clock.now();
    return deliveryHeaders({ eventId, event: name, sessionId, body, now, secret, otherSecrets });
  }
}
