import { Injectable } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { JobLock } from '../../../infrastructure/database/index.js';
import { TokenSigningKeys } from './token-signing-keys.js';

/** Publishes new keys in time, and deletes those that no token needs any more. */
@Injectable()
export class TokenSigningKeysRotation {
  constructor(
    private readonly keys: TokenSigningKeys,
    private readonly lock: JobLock,
  ) {}

  @Cron(CronExpression.EVERY_HOUR)
  async run(): Promise<void> {
    await this.lock.runExclusively('token-signing-keys.rotation', async () => {
      await this.keys.rotateIfDue();
      await this.keys.deleteObsolete();
    });
  }
}
