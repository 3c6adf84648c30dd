import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { isDatabaseUnavailable } from '../../infrastructure/database/index.js';
import { SECOND } from '../../infrastructure/time/index.js';
import { UserErasuresService } from './user-erasures.service.js';

/** Runs the erasures that clients and operators requested, one at a time in each process. */
@Injectable()
export class UserErasuresJob implements OnApplicationShutdown {
  private readonly logger = new Logger('Erasures');
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;

  constructor(private readonly erasures: UserErasuresService) {}

  @Interval(SECOND)
  run(): Promise<void> {
    this.running ??= this.runAll()
      .catch((error: unknown) => {
        if (!isDatabaseUnavailable(error))
          this.logger.error('A user could not be erased; the erasure is repeated', error);
      })
      .finally(() => (this.running = undefined));
    return this.running;
  }

  /** Waits for the batch in progress. Another process continues with the next one. */
  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async runAll(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted && (await this.erasures.runNext(signal)));
  }
}
