import { Injectable } from '@nestjs/common';
import type { AttributedClient } from '../../../infrastructure/http/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { SigningSecrets } from '../../api-clients/index.js';
import { EndpointKeys } from '../../webhook-endpoints/index.js';
import type { ClaimedDelivery } from '../delivery.js';
import { deliveryHeaders } from './delivery-headers.js';

/** An event that is about to be sent, with the client's valid secrets. The first one is the active one. */
export interface SignableEvent extends Pick<ClaimedDelivery, 'secretVersions'> {
  readonly client: Pick<AttributedClient, 'clientId'>;
  readonly event: Pick<ClaimedDelivery['event'], 'id' | 'name' | 'sessionId' | 'body'>;
  /** Absent if the event is not sent to an endpoint. */
  readonly endpointId?: string;
  readonly signingRevision?: number;
  readonly url?: string;
}

@Injectable()
export class EventSigner {
  constructor(
    private readonly secrets: SigningSecrets,
    private readonly keys: EndpointKeys,
    private readonly clock: Clock,
  ) {}

  /** Returns all headers of one delivery of the event, which is sent now. @throws KeyUnavailable */
  async headersOf(signable: SignableEvent): Promise<Record<string, string>> {
    const { client, event, secretVersions, endpointId, signingRevision, url = '' } = signable;
    const { id: eventId, name, sessionId, body } = event;
    const [secret, ...otherSecrets] = await this.secrets.of(client.clientId, secretVersions);
    const own =
      endpointId && signingRevision ? await this.keys.of(endpointId, signingRevision, url) : undefined;
    const now = this.clock.now();
    return deliveryHeaders({ eventId, event: name, sessionId, body, now, secret, otherSecrets, ...own });
  }
}
