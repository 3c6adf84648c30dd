import type { Request } from 'express';
import { KeyedQueue } from '../database/index.js';
import { clientAddress, rateLimitKeyOfAddress } from './request-origin.js';

/**
 * Limits how many bodies are worked on at a time: of one address, a single one, so that a stranger with many bodies makes only
 * itself wait; of all addresses, as many as given. What waits more than that gets SERVICE_UNAVAILABLE.
 */
export class BodyTurns {
  private readonly ofAddress = new KeyedQueue(1);
  private readonly all: KeyedQueue;

  constructor(max: number) {
    this.all = new KeyedQueue(max);
  }

  /** @throws ApiError SERVICE_UNAVAILABLE */
  run<Result>(request: Request, work: () => Promise<Result>): Promise<Result> {
    const address = rateLimitKeyOfAddress(clientAddress(request));
    return this.ofAddress.run(address, () => this.all.run('all', work));
  }
}
