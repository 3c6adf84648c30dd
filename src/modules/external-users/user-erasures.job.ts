import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { RecurringJob } from '../../infrastructure/database/index.js';
import { SECOND } from '../../infrastructure/time/index.js';
import { UserErasuresService } from './user-erasures.service.js';

/** Runs the erasures that clients and operators requested, one at a time in each process. */
@Injectable()
export class UserErasuresJob extends RecurringJob {
  constructor(private readonly erasures: UserErasuresService) {
    super('Erasures', 'A user could not be erased; the erasure is repeated');
  }

  @Interval(SECOND)
  run(): Promise<void> {
    return this.start(() => this.runAll());
  }

  private async runAll(): Promise<void> {
    while (!this.stopped.aborted && (await this.erasures.runNext(this.stopped)));
  }
}
