import { Injectable } from '@nestjs/common';
import { Transactional } from '../../infrastructure/database/index.js';
import type { AttributedClient } from '../../infrastructure/http/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import type { EventMerchant } from '../../infrastructure/event-catalog/index.js';
import { API_CLIENT_NOT_FOUND, ApiClientDirectory } from '../api-clients/index.js';
import { matchKeys, MerchantCatalogService, requireMerchants } from '../merchants/index.js';
import {
  contentHash,
  eventResponseOf,
  WebhookPublisher,
  type EventResponse,
  type PublishRequest,
} from '../webhooks/index.js';
import type {
  CreateDetectionRequest,
  DetectAccountsRequest,
  DetectedAccountResponse,
} from './detected-accounts.dto.js';
import { DetectedAccountsBatch } from './detected-accounts.batch.js';
import { DetectedAccountsRepository } from './detected-accounts.repository.js';

/** The detected accounts of a user that one event names. */
export interface UserDetections {
  readonly client: AttributedClient;
  readonly externalUserId: string;
  readonly merchants: EventMerchant[];
}

export function detectionEvent({ client, externalUserId, merchants }: UserDetections): PublishRequest {
  const data = { detected_accounts: merchants };
  return { client, event: { event: 'NEW_DETECTED_ACCOUNTS_AVAILABLE', externalUserId, data } };
}

/** Records and finds merchant accounts that were detected for a client's users. */
@Injectable()
export class DetectedAccountsService {
  constructor(
    private readonly repository: DetectedAccountsRepository,
    private readonly batch: DetectedAccountsBatch,
    private readonly webhooks: WebhookPublisher,
    private readonly merchants: MerchantCatalogService,
    private readonly clients: ApiClientDirectory,
    private readonly clock: Clock,
  ) {}

  /**
   * Records detections for the client that the request names.
   *
   * @throws ApiError if the client or a merchant does not exist, or the key was used for other content
   */
  async recordForClient(request: CreateDetectionRequest): Promise<EventResponse> {
    const client = API_CLIENT_NOT_FOUND.requireFound(await this.clients.find(request.client_id));
    const { clientId, environment } = client;
    return this.record({ clientId, environment }, request, request.idempotency_key);
  }

  /**
   * Records, with the current time, that accounts of a user were detected at these merchants, and publishes the webhook event
   * `NEW_DETECTED_ACCOUNTS_AVAILABLE` in the same transaction. Calls with the same key publish the event only once.
   *
   * @throws ApiError MERCHANT_NOT_FOUND if a merchant does not exist, or IDEMPOTENCY_KEY_REUSED
   */
  @Transactional()
  async record(
    client: AttributedClient,
    { external_user_id: externalUserId, merchants: named }: DetectAccountsRequest,
    key?: string,
  ): Promise<EventResponse> {
    const merchants = await this.merchantsOf(named);
    const { clientId } = client;
    const detectedAt = this.clock.now();
    await this.repository.record(
      merchants.map(({ id }) => ({ clientId, externalUserId, merchantId: id, detectedAt })),
    );
    const content = { externalUserId, merchants: merchants.map(({ id }) => id) };
    const idempotency = key === undefined ? undefined : { key, contentHash: contentHash(content) };
    const event = detectionEvent({ client, externalUserId, merchants });
    const [result] = await this.webhooks.publishAll([{ ...event, idempotency }]);
    const response = eventResponseOf(result);
    if (response instanceof Error) throw response;
    return response;
  }

  /** Returns one result per name, in the same order, including duplicates. An unknown user has no detected accounts. */
  async search(
    { clientId }: Pick<AttributedClient, 'clientId'>,
    externalUserId: string,
    names: readonly string[],
  ): Promise<DetectedAccountResponse[]> {
    const keysByName = names.map(matchKeys);
    const detections = await this.batch.lookups.add({
      clientId,
      externalUserId,
      matchKeys: keysByName.flat(),
    });
    // The keys of a name start with that of the whole name; the others lack `account`, `Inc.`, `.com` and so on. The first key
    // that belongs to a merchant decides: an account at "Hulu" is no match for "Hulu account" if another merchant has that name.
    const longerKeys = keysByName.flatMap((keys) => {
      const first = keys.findIndex((key) => detections.has(key));
      return keys.slice(0, Math.max(first, 0));
    });
    const merchantIds = longerKeys.length > 0 ? await this.merchants.idsByMatchKey(longerKeys) : undefined;
    return names.map((name, index) => {
      const key = keysByName[index]?.find((each) => detections.has(each) || merchantIds?.has(each));
      const detectedAt = detections.get(key ?? '') ?? null;
      return { name, detected: detectedAt !== null, detected_at: detectedAt };
    });
  }

  /** Returns each merchant once, in the order of the first name or ID that refers to it. */
  private async merchantsOf(named: readonly (string | number)[]): Promise<EventMerchant[]> {
    const idsByName = await this.merchants.idsByName(named.filter((each) => typeof each === 'string'));
    const ids = named.map((each) => (typeof each === 'number' ? each : idsByName.get(each)));
    const known = await this.merchants.byIds(ids.filter((id) => id !== undefined));
    return [...new Set(requireMerchants(ids, known, 'merchants'))];
  }
}
