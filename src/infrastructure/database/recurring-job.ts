import { setTimeout as pause } from 'node:timers/promises';
import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { SECOND } from '../time/index.js';
import { JobLock } from './advisory-lock.js';
import { JobFailures } from './job-failures.js';
import { isDatabaseUnavailable, isStatementCanceled, mayRepeat } from './sql-state.js';

/** Milliseconds after which a run that failed because the database was unavailable is repeated. */
const RETRY_DELAY = 5 * SECOND;
/** Milliseconds that a shutdown waits for the runs of all jobs together: the steps after it need the rest of its 20 seconds. */
const STOP_TIMEOUT = 5 * SECOND;

/** Limits how long a shutdown waits for jobs, which Nest stops one module after another. */
@Injectable()
export class JobShutdown {
  private timeout: Promise<void> | undefined;

  /** Resolves when the run has ended, or when the time for all runs is over: every job can be continued by another process. */
  async wait(run: Promise<void> | undefined): Promise<void> {
    this.timeout ??= pause(STOP_TIMEOUT, undefined, { ref: false });
    await Promise.race([run, this.timeout]);
  }
}

/**
 * A job that runs at an interval, whose runs never overlap in a process: if one takes longer than the interval, the next is
 * skipped. A process that shuts down waits up to 5 seconds for the run in progress, before its database connections close.
 */
export abstract class RecurringJob implements OnModuleInit, BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  /** Aborted when the process shuts down. A long run checks it between two steps; another process continues. */
  protected readonly stopped = this.stopping.signal;
  @Inject()
  private readonly failures!: JobFailures;
  @Inject()
  private readonly shutdown!: JobShutdown;
  @Inject()
  protected readonly lock!: JobLock;
  private readonly reported = new WeakSet<object>();
  private running: Promise<void> | undefined;
  private retry: NodeJS.Timeout | undefined;

  /** @param failure the log message about a failed run */
  protected constructor(
    private readonly loggerName: string,
    private readonly failure: string,
  ) {}

  onModuleInit(): void {
    this.failures.watch(this);
  }

  protected start(work: () => Promise<void>): Promise<void> {
    if (this.stopped.aborted) return Promise.resolve();
    this.running ??= work()
      .catch((error: unknown) => {
        this.report(error);
        // A statement that takes too long would take as long again.
        if (!isDatabaseUnavailable(error) || isStatementCanceled(error)) return;
        clearTimeout(this.retry);
        if (!this.stopped.aborted) this.retry = setTimeout(() => void this.start(work), RETRY_DELAY).unref();
      })
      .finally(() => (this.running = undefined));
    return this.running;
  }

  /** Like `start`, unless another process is doing the work at this moment. @param name of the lock that it holds meanwhile */
  protected startExclusively(name: string, work: () => Promise<void>): Promise<void> {
    return this.start(() => this.lock.runExclusively(name, work));
  }

  /**
   * Runs the work for one item after another, until the process stops. An item that fails is reported, and does not keep the others
   * waiting.
   *
   * @throws the first failure, after the last item: one of the database, if there is any, after which the run is repeated
   */
  protected async forEach<Item>(items: Iterable<Item>, work: (item: Item) => unknown): Promise<void> {
    const failures: unknown[] = [];
    for (const item of items)
      if (!this.stopped.aborted)
        try {
          await work(item);
        } catch (error) {
          this.report(error);
          failures.push(error);
        }
    if (failures.length > 0) throw failures.find(isDatabaseUnavailable) ?? failures[0];
  }

  /** Counts and stores why a part of the job failed, unless it was reported before, and logs a cause once per hour. */
  protected report(error: unknown): void {
    if (typeof error === 'object' && error !== null) {
      if (this.reported.has(error)) return;
      this.reported.add(error);
    }
    if (!this.failures.report(this, error)) return;
    const logger = new Logger(this.loggerName);
    if (mayRepeat(error)) logger.warn(`${this.failure}: ${(error as Error).message}`);
    else logger.error(this.failure, error);
  }

  /** Before any module closes its database connections: Nest closes global modules in no defined order. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    clearTimeout(this.retry);
    await this.shutdown.wait(this.running);
  }
}
