import { Injectable } from '@nestjs/common';
import { AttemptLimitsRepository } from '../../infrastructure/rate-limiting/index.js';
import { HOUR } from '../../infrastructure/time/index.js';

/**
 * Decides which attempts beyond a limit get an audit log entry. One entry stands for all attempts of an hour, because
 * otherwise anyone could fill the log.
 */
@Injectable()
export class RefusedAttempts {
  private readonly entries = this.limits.limit({ name: 'refused-attempts', attempts: 1, within: HOUR });

  constructor(private readonly limits: AttemptLimitsRepository) {}

  /** @returns whether this is the first refused attempt on the account within an hour */
  async isFirst(kind: 'login' | 'second factor' | 'password', userId: string): Promise<boolean> {
    return (await this.entries.count(`${kind} ${userId}`)) === undefined;
  }
}
