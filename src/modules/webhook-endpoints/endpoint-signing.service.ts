import { Injectable } from '@nestjs/common';
import type { DashboardActor } from '../../infrastructure/auth/index.js';
import { Transactional, type Check } from '../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { changesBetween } from '../audit-logs/index.js';
import { EndpointKeys, type KeysOverview } from './endpoint-keys.js';
import type { RotateWebhookEndpointKeyRequest, WebhookEndpointResponse } from './webhook-endpoints.dto.js';
import type { WebhookEndpoint } from './webhook-endpoint.entity.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';

/** Shows and changes the keys of webhook endpoints for dashboard users. */
@Injectable()
export class EndpointSigningService {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly keys: EndpointKeys,
  ) {}

  async overviewOf(endpoint: WebhookEndpoint): Promise<KeysOverview> {
    return (await this.keys.overviewsOf([endpoint])).get(endpoint.id) as KeysOverview;
  }

  /**
   * Makes a new key, which also signs from now on.
   *
   * @param check throws if the keys of the endpoint, which is locked, are not as expected
   * @throws ApiError WEBHOOK_ENDPOINT_KEY_ROTATING
   */
  @Transactional()
  async rotateKey(
    actor: DashboardActor,
    id: string,
    request: RotateWebhookEndpointKeyRequest,
    check?: Check<KeysOverview>,
  ): Promise<WebhookEndpointResponse> {
    const { client } = await this.endpoints.require(actor, id);
    const endpoint = await this.endpoints.lock(id);
    const before = await this.overviewOf(endpoint);
    check?.(before);
    const signing = request.signing ?? before.signing;
    if (signing === 'client' && before.signing === 'client')
      throw INVALID_FIELD.error('The endpoint has no key of its own. Set signing to hmac or ed25519.', {
        field: 'signing',
      });
    const key = await this.keys.replace(endpoint, signing, request.overlap_hours);
    const changes = changesBetween({ signing: before.signing }, { signing });
    await this.endpoints.record('webhook.rotate_key', actor, { ...endpoint, client }, changes);
    return this.endpoints.withKey(id, client, key);
  }

  /** Makes the signature of the newest key the first one. Idempotent. */
  @Transactional()
  async activateKey(actor: DashboardActor, id: string, check?: Check<KeysOverview>): Promise<void> {
    const { client } = await this.endpoints.require(actor, id);
    const endpoint = await this.endpoints.lock(id);
    check?.(await this.overviewOf(endpoint));
    if (await this.keys.activate(id))
      await this.endpoints.record('webhook.rotate_key', actor, { ...endpoint, client });
  }

  /** Returns the secret of the newest key, if it has one. The same transaction records in the audit log that it was viewed. */
  @Transactional()
  async viewKey(actor: DashboardActor, id: string): Promise<string | undefined> {
    const endpoint = await this.endpoints.require(actor, id);
    const secret = await this.keys.secretOf(id);
    if (secret !== undefined) await this.endpoints.record('webhook.view_key', actor, endpoint);
    return secret;
  }
}
