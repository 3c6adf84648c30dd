import { Injectable } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { JobLock } from '../../../infrastructure/database/index.js';
import { TokenSigningKeysService } from './token-signing-keys.service.js';

/** Rotates signing keys on schedule and deletes obsolete ones. */
@Injectable()
export class TokenSigningKeysRotation {
  constructor(
    private readonly keys: TokenSigningKeysService,
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
