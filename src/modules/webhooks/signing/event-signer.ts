import { Injectable } from '@nestjs/common';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { SigningSecrets } from '../../api-clients/index.js';
import type { ClaimedDelivery } from '../queue/delivery.js';
import { deliveryHeaders } from './delivery-headers.js';

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
