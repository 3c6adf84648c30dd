import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { JobLock } from '../../../infrastructure/database/index.js';
import { hourlyAt } from '../../../infrastructure/time/index.js';
import { TokenSigningKeysService } from './token-signing-keys.service.js';

@Injectable()
export class TokenSigningKeysRotation {
  constructor(
    private readonly keys: TokenSigningKeysService,
    private readonly lock: JobLock,
  ) {}

  @Cron(hourlyAt(50))
  async run(): Promise<void> {
    await this.lock.runExclusively('token-signing-keys.rotation', async () => {
      await this.keys.rotateIfDue();
      await this.keys.deleteObsolete();
    });
  }
}
