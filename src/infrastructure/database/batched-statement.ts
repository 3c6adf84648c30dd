import { setTimeout as pause } from 'node:timers/promises';
import { isDatabaseUnavailable, repeatedOnce } from './sql-state.js';

/** Receives the result of the row's statement once it is committed, or the error that prevents it. */
type Callback<Result> = (error: unknown, result?: Result) => void;

interface WaitingRow<Row, Result> {
  readonly row: Row;
  readonly callback: Callback<Result>;
  /** Whether a statement contains the row whose outcome is not known yet. */
  isRunning: boolean;
}

export interface BatchedStatementOptions<Row, Result = void> {
  /** Processes all rows together and commits them. @returns the results in the order of the rows */
  readonly execute: (rows: readonly Row[]) => Promise<readonly Result[] | void>;
  readonly maxRows: number;
  readonly maxStatements: number;
  /**
   * Maximum number of waiting rows. If another row arrives, the oldest is rejected with `RowDropped`. The default is no
   * limit.
   */
  readonly maxWaiting?: number;
  /**
   * Milliseconds that must pass between the starts of two statements, unless `enoughRows` rows are waiting. Larger batches
   * cost less per row. The default is 0.
   */
  readonly minInterval?: number;
  /** Number of waiting rows that start a statement before `minInterval` has passed. The default is `maxRows`. */
  readonly enoughRows?: number;
  /** Milliseconds for which a statement runs alone, before another begins beside it. The default is 0. */
  readonly aloneFor?: number;
  /**
   * Returns after how many milliseconds to retry a batch that failed with this error. If it returns undefined, each row of
   * the batch is executed alone, unless the database is unavailable.
   */
  readonly retryAfter?: (error: unknown) => number | undefined;
  /**
   * Whether a batch whose connection was lost is executed once more, on another connection. Only for statements that change nothing
   * when they run twice: the server may have executed the first.
   */
  readonly isRepeatable?: boolean;
}

/** The row was dropped to make room for newer ones. */
export class RowDropped extends Error {
  constructor() {
    super('The row was dropped: too many rows are waiting to be written');
  }
}

/**
 * Collects the rows of concurrent requests into one statement (group commit). In a statement that only reads, a
 * `Row` holds the parameters of one lookup.
 *
 * Rows are sent at the end of the tick in which they arrive, unless `maxStatements` statements are running, `minInterval`
 * has not passed, or a failed batch waits for its retry. Waiting rows form the next batch, so the batches grow with the
 * load.
 */
export class BatchedStatement<Row, Result = void> {
  private waiting: WaitingRow<Row, Result>[] = [];
  private readonly runningBatches = new Set<readonly WaitingRow<Row, Result>[]>();
  private running = 0;
  private scheduled = false;
  private paused = false;
  private stopped = false;
  /** When the last statement began, on the clock of `performance.now()`. */
  private startedAt = -Infinity;
  private timer: NodeJS.Timeout | undefined;
  private idleListeners: (() => void)[] = [];

  constructor(private readonly options: BatchedStatementOptions<Row, Result>) {}

  /** Resolves when the row is committed. Rejects if this row cannot be committed, even if the rest of its batch can. */
  add(row: Row): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.enqueue(row, (error, result) => (error === undefined ? resolve(result as Result) : reject(error)));
    });
  }

  /**
   * Like `add`, with a callback. For a caller that creates a promise anyway, a second promise per row would double the
   * cost.
   */
  enqueue(row: Row, callback: Callback<Result>): void {
    this.waiting.push({ row, callback, isRunning: false });
    this.dropOldest();
    this.schedule();
  }

  get waitingRows(): number {
    return this.waiting.length;
  }

  /** Resolves when no row is waiting and no statement is running. After `stop`, rows may be waiting. */
  idle(): Promise<void> {
    if (this.isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.idleListeners.push(resolve));
  }

  /** Starts no further statement. @returns the rows that wait for one; their callbacks are not called */
  stop(): Row[] {
    this.stopped = true;
    return this.waiting.splice(0).map(({ row }) => row);
  }

  /**
   * After `stop`, gives up all rows that are not known to be committed. If a statement is still running, the database may
   * commit its rows.
   *
   * @returns the rows; their callbacks are not called
   */
  abandon(): Row[] {
    const running = [...this.runningBatches].flat().filter(({ isRunning }) => isRunning);
    this.runningBatches.clear();
    return [...running.map(({ row }) => row), ...this.stop()];
  }

  private isIdle(): boolean {
    return this.running === 0 && (this.stopped || this.waiting.length === 0);
  }

  private schedule(): void {
    if (this.scheduled || this.paused || this.stopped || this.waiting.length === 0) return;
    const { maxRows, maxStatements, minInterval = 0, enoughRows = maxRows, aloneFor = 0 } = this.options;
    if (this.running >= maxStatements) return;
    const startAt = Math.max(
      this.waiting.length >= enoughRows ? 0 : this.startedAt + minInterval,
      this.running === 0 ? 0 : this.startedAt + aloneFor,
    );
    const wait = startAt - performance.now();
    if (wait > 0) {
      this.timer ??= setTimeout(() => {
        this.timer = undefined;
        this.schedule();
      }, wait);
      return;
    }
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      if (this.stopped) return;
      this.startedAt = performance.now();
      const batch = this.waiting.splice(0, this.options.maxRows);
      if (batch.length > 0) void this.commit(batch);
      this.schedule();
    });
  }

  private async commit(batch: readonly WaitingRow<Row, Result>[]): Promise<void> {
    this.running += 1;
    this.runningBatches.add(batch);
    for (const waiting of batch) waiting.isRunning = true;
    try {
      await this.execute(batch);
    } catch (error) {
      await this.recover(batch, error);
    } finally {
      this.runningBatches.delete(batch);
      this.running -= 1;
      this.schedule();
      this.notifyIdle();
    }
  }

  private async recover(batch: readonly WaitingRow<Row, Result>[], error: unknown): Promise<void> {
    const delay = this.options.retryAfter?.(error);
    if (delay !== undefined) {
      for (const waiting of batch) waiting.isRunning = false;
      this.waiting.unshift(...batch);
      this.dropOldest();
      if (this.stopped) return;
      this.paused = true;
      await pause(delay, undefined, { ref: false });
      this.paused = false;
    } else if (batch.length === 1 || isDatabaseUnavailable(error)) {
      for (const waiting of batch) this.settle(waiting, error);
    } else {
      await this.executeSeparately(batch);
    }
  }

  /** Executes each row alone, because a row that the database refuses must not fail the rest of its batch. */
  private async executeSeparately(batch: readonly WaitingRow<Row, Result>[]): Promise<void> {
    for (const [index, waiting] of batch.entries()) {
      try {
        await this.execute([waiting]);
      } catch (error) {
        if (this.options.retryAfter?.(error) !== undefined) return this.recover(batch.slice(index), error);
        this.settle(waiting, error);
      }
    }
  }

  private async execute(batch: readonly WaitingRow<Row, Result>[]): Promise<void> {
    const run = () => this.options.execute(batch.map(({ row }) => row));
    const results = await (this.options.isRepeatable ? repeatedOnce(run) : run());
    for (const [index, waiting] of batch.entries()) this.settle(waiting, undefined, results?.[index]);
  }

  private settle(waiting: WaitingRow<Row, Result>, error: unknown, result?: Result): void {
    waiting.isRunning = false;
    waiting.callback(error, result);
  }

  private dropOldest(): void {
    const excess = this.waiting.length - (this.options.maxWaiting ?? Infinity);
    if (excess <= 0) return;
    for (const { callback } of this.waiting.splice(0, excess)) callback(new RowDropped());
  }

  private notifyIdle(): void {
    if (!this.isIdle()) return;
    const listeners = this.idleListeners;
    this.idleListeners = [];
    for (const listener of listeners) listener();
  }
}
