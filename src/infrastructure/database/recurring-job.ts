import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import { isDatabaseUnavailable } from './sql-state.js';

/**
 * A job that runs at an interval, whose runs never overlap in a process: if one takes longer than the interval, the next is
 * skipped. A process that shuts down waits for the run in progress, before its database connections close.
 */
export abstract class RecurringJob implements OnApplicationShutdown {
  private readonly stopping = new AbortController();
  /** Aborted when the process shuts down. A long run checks it between two steps; another process continues. */
  protected readonly stopped = this.stopping.signal;
  private running: Promise<void> | undefined;

  /** @param failure the log message about a failed run */
  protected constructor(
    private readonly loggerName: string,
    private readonly failure: string,
  ) {}

  protected start(work: () => Promise<void>): Promise<void> {
    this.running ??= work()
      .catch((error: unknown) => {
        // The delivery worker reports that the database is unavailable.
        if (!isDatabaseUnavailable(error)) new Logger(this.loggerName).error(this.failure, error);
      })
      .finally(() => (this.running = undefined));
    return this.running;
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }
}
