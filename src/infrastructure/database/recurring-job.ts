import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import { SECOND } from '../time/index.js';
import { isDatabaseUnavailable } from './sql-state.js';

/** Milliseconds after which a run that failed because the database was unavailable is repeated. */
const RETRY_DELAY = 5 * SECOND;

/**
 * A job that runs at an interval, whose runs never overlap in a process: if one takes longer than the interval, the next is
 * skipped. A process that shuts down waits for the run in progress, before its database connections close.
 */
export abstract class RecurringJob implements OnApplicationShutdown {
  private readonly stopping = new AbortController();
  /** Aborted when the process shuts down. A long run checks it between two steps; another process continues. */
  protected readonly stopped = this.stopping.signal;
  private running: Promise<void> | undefined;
  private retry: NodeJS.Timeout | undefined;

  /** @param failure the log message about a failed run */
  protected constructor(
    private readonly loggerName: string,
    private readonly failure: string,
  ) {}

  protected start(work: () => Promise<void>): Promise<void> {
    this.running ??= work()
      .catch((error: unknown) => {
        // The delivery worker reports that the database is unavailable.
        if (!isDatabaseUnavailable(error)) return new Logger(this.loggerName).error(this.failure, error);
        clearTimeout(this.retry);
        if (!this.stopped.aborted) this.retry = setTimeout(() => void this.start(work), RETRY_DELAY).unref();
      })
      .finally(() => (this.running = undefined));
    return this.running;
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    clearTimeout(this.retry);
    await this.running;
  }
}
