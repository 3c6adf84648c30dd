import { Injectable } from '@nestjs/common';
import type { ApiCaller } from '../../infrastructure/auth/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { matchKey } from '../merchants/index.js';
import type { DetectedAccountResponse } from './detected-accounts.dto.js';
import { DetectedAccountsRepository } from './detected-accounts.repository.js';

/** Which merchant accounts were detected for a client's users. */
@Injectable()
export class DetectedAccountsService {
  constructor(
    private readonly repository: DetectedAccountsRepository,
    private readonly clock: Clock,
  ) {}

  /** Records that the user's accounts at these merchants are detected now. Joins the caller's transaction. */
  async record(clientId: string, externalUserId: string, merchantIds: readonly number[]): Promise<void> {
    const detectedAt = this.clock.now();
    await this.repository.record(
      merchantIds.map((merchantId) => ({ clientId, externalUserId, merchantId, detectedAt })),
    );
  }

  /** One result for each name, in their order, duplicates included. An unknown user has nothing detected. */
  async search(
    caller: ApiCaller,
    externalUserId: string,
    names: readonly string[],
  ): Promise<DetectedAccountResponse[]> {
    const keys = names.map(matchKey);
    const detections = await this.repository.detectedAtByMatchKey(caller.clientId, externalUserId, keys);
    return names.map((name, index) => {
      const detectedAt = detections.get(keys[index] ?? '') ?? null;
      return { name, detected: detectedAt !== null, detected_at: detectedAt };
    });
  }
}
