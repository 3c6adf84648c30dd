import { Injectable } from '@nestjs/common';
import { sha256 } from '../../../infrastructure/crypto/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { KnownBrowsersRepository } from './known-browsers.repository.js';

/** The browsers in which each user has logged in. */
@Injectable()
export class KnownBrowsersService {
  constructor(
    private readonly repository: KnownBrowsersRepository,
    private readonly clock: Clock,
  ) {}

  /** @param browser the value of the browser's cookie */
  async knows(userId: string, browser: string): Promise<boolean> {
    return this.repository.has(digestOf(userId, browser));
  }

  /** Remembers the browser for a year. Joins the open transaction. @returns whether it was unknown */
  async remember(userId: string, browser: string): Promise<boolean> {
    return this.repository.add({ digest: digestOf(userId, browser), userId, loggedInAt: this.clock.now() });
  }
}

function digestOf(userId: string, browser: string): Buffer {
  return sha256(JSON.stringify([userId, browser]));
}
