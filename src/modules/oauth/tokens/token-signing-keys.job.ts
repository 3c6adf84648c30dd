import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { RecurringJob } from '../../../infrastructure/database/index.js';
import { hourlyAt } from '../../../infrastructure/time/index.js';
import { TokenSigningKeysService } from './token-signing-keys.service.js';

/** Rotates the keys that sign access tokens, and deletes obsolete ones. */
@Injectable()
export class TokenSigningKeysJob extends RecurringJob {
  constructor(private readonly keys: TokenSigningKeysService) {
    super('OAuth', 'The signing keys of tokens could not be maintained');
  }

  @Cron(hourlyAt(50))
  run(): Promise<void> {
    const steps = [() => this.keys.rotateIfDue(), () => this.keys.deleteObsolete()];
    return this.startExclusively('token-signing-keys.rotation', () => this.forEach(steps, (step) => step()));
  }
}
