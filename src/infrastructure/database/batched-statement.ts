import { setTimeout as pause } from 'node:timers/promises';
import { isDatabaseUnavailable } from './sql-state.js';

/** Hears that the row is committed and what the statement told of it, or why the row, and it alone, cannot be. */
type Settled<Result> = (error: unknown, result?: Result) => void;

interface Waiting<Row, Result> {
  readonly row: Row;
  readonly settled: Settled<Result>;
}

export interface BatchedStatementOptions<Row, Result = void> {
  /** Takes all rows in one statement, which commits by itself. @returns what it tells of each, in their order */
  readonly execute: (rows: readonly Row[]) => Promise<readonly Result[] | void>;
  /** Rows in one statement, at most. */
  readonly maxRows: number;
  /** Statements under way at once. */
  readonly maxStatements: number;
  /** Rows that may wait; one more rejects the oldest with `RowDropped`. Unbounded when absent. */
  readonly maxWaiting?: number;
  /** Milliseconds after which a batch that failed with this error is tried again; undefined gives it up. */
  readonly retryAfter?: (error: unknown) => number | undefined;
}

/** The row had to make room for newer ones. */
export class RowDropped extends Error {
  constructor() {
    super('Dropped: too many rows are waiting to be written');
  }
}

/**
 * Gathers rows that arrive together into one statement, and answers each when it is committed. The rows of one that
 * only reads are what is asked for.
 *
 * A row that finds nothing under way goes out at the end of the tick, with whatever arrived beside it;
 * the others wait for the statement before them, so under load the statements grow by themselves.
 */
export class BatchedStatement<Row, Result = void> {
  private waiting: Waiting<Row, Result>[] = [];
  private running = 0;
  private scheduled = false;
  private paused = false;
  private idleListeners: (() => void)[] = [];

  constructor(private readonly options: BatchedStatementOptions<Row, Result>) {}

  /** Resolves when the row is committed; rejects when it, and it alone, cannot be. */
  add(row: Row): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.enqueue(row, (error, result) => (error === undefined ? resolve(result as Result) : reject(error)));
    });
  }

  /** The same for whoever has a promise of their own: another costs as much as all the rest of this. */
  enqueue(row: Row, settled: Settled<Result>): void {
    this.waiting.push({ row, settled });
    this.dropOldest();
    this.schedule();
  }

  /** Rows that are in no statement yet. */
  get waitingRows(): number {
    return this.waiting.length;
  }

  /** Resolves when no row is waiting any more. */
  idle(): Promise<void> {
    if (this.waiting.length === 0 && this.running === 0) return Promise.resolve();
    return new Promise((resolve) => this.idleListeners.push(resolve));
  }

  private schedule(): void {
    if (this.scheduled || this.paused || this.waiting.length === 0) return;
    if (this.running >= this.options.maxStatements) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      const batch = this.waiting.splice(0, this.options.maxRows);
      if (batch.length > 0) void this.commit(batch);
      this.schedule();
    });
  }

  private async commit(batch: readonly Waiting<Row, Result>[]): Promise<void> {
    this.running += 1;
    try {
      await this.execute(batch);
    } catch (error) {
      await this.recover(batch, error);
    } finally {
      this.running -= 1;
      this.schedule();
      this.notifyIdle();
    }
  }

  private async recover(batch: readonly Waiting<Row, Result>[], error: unknown): Promise<void> {
    const delay = this.options.retryAfter?.(error);
    if (delay !== undefined) {
      this.waiting.unshift(...batch);
      this.dropOldest();
      this.paused = true;
      await pause(delay, undefined, { ref: false });
      this.paused = false;
    } else if (batch.length === 1 || isDatabaseUnavailable(error)) {
      for (const { settled } of batch) settled(error);
    } else {
      // One row that the database refuses must not take its neighbours with it.
      for (const waiting of batch) await this.execute([waiting]).catch(waiting.settled);
    }
  }

  private async execute(batch: readonly Waiting<Row, Result>[]): Promise<void> {
    const results = await this.options.execute(batch.map(({ row }) => row));
    for (const [index, { settled }] of batch.entries()) settled(undefined, results?.[index]);
  }

  private dropOldest(): void {
    const excess = this.waiting.length - (this.options.maxWaiting ?? Infinity);
    if (excess <= 0) return;
    for (const { settled } of this.waiting.splice(0, excess)) settled(new RowDropped());
  }

  private notifyIdle(): void {
    if (this.waiting.length > 0 || this.running > 0) return;
    const listeners = this.idleListeners;
    this.idleListeners = [];
    for (const listener of listeners) listener();
  }
}
