import { Injectable } from '@nestjs/common';
import type { AuthenticatedClient } from '../../infrastructure/auth/index.js';
import { Transactional } from '../../infrastructure/database/index.js';
import type { AttributedClient } from '../../infrastructure/http/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { matchKey } from '../merchants/index.js';
import { WebhookPublisher, type EventMerchant } from '../webhooks/index.js';
import type { DetectedAccountResponse } from './detected-accounts.dto.js';
import { DetectedAccountsRepository } from './detected-accounts.repository.js';

/** Records and finds merchant accounts that were detected for a client's users. */
@Injectable()
export class DetectedAccountsService {
  constructor(
    private readonly repository: DetectedAccountsRepository,
    private readonly webhooks: WebhookPublisher,
    private readonly clock: Clock,
  ) {}

  /**
   * Records that the user's accounts with these merchants are detected now, and publishes the webhook event
   * `NEW_DETECTED_ACCOUNTS_AVAILABLE` in the same transaction.
   *
   * @returns the ID of the event
   */
  @Transactional()
  async record(
    client: AttributedClient,
    externalUserId: string,
    merchants: readonly EventMerchant[],
  ): Promise<string> {
    const { clientId } = client;
    const detectedAt = this.clock.now();
    await this.repository.record(
      merchants.map(({ id }) => ({ clientId, externalUserId, merchantId: id, detectedAt })),
    );
    return this.webhooks.publish(client, {
      event: 'NEW_DETECTED_ACCOUNTS_AVAILABLE',
      externalUserId,
      data: { detected_accounts: [...merchants] },
    });
  }

  /** Returns one result per name, in the same order, including duplicates. An unknown user has no detected accounts. */
  async search(
    client: AuthenticatedClient,
    externalUserId: string,
    names: readonly string[],
  ): Promise<DetectedAccountResponse[]> {
    const keys = names.map(matchKey);
    const detections = await this.repository.detectedAtByMatchKey(client.clientId, externalUserId, keys);
    return names.map((name, index) => {
      const detectedAt = detections.get(keys[index] ?? '') ?? null;
      return { name, detected: detectedAt !== null, detected_at: detectedAt };
    });
  }
}
