import { SECOND } from '../time/index.js';

/** Milliseconds. */
const DEFAULT_MAX_AGE = 5 * SECOND;
const TIMEOUT = SECOND;
const DEFAULT_AGE_PER_LOAD_TIME = 50;

export interface CachedValueOptions<T> {
  readonly load: () => Promise<T>;
  readonly onFailure: (error: unknown) => void;
  /** Milliseconds for which a value is kept. Default: 5 s. */
  readonly freshFor?: number;
  /**
   * If loading takes long, its outcome, also a failure, is kept for so many times its duration. Default: 50, so that loading takes at
   * most 2 % of the time of a connection. 0 for a value that decides something.
   */
  readonly agePerLoadTime?: number;
}

/**
 * A value that takes a database statement or another request to load. Concurrent readers share one load. They wait for one second
 * at most, so that a slow load does not delay what they read besides, such as the other metrics. A cache library would still need
 * code for the time limit and the variable age.
 */
export class CachedValue<T> {
  /** The last load, which may be in progress. */
  private loading: Promise<T> | undefined;
  private freshUntil = 0;

  constructor(private readonly options: CachedValueOptions<T>) {}

  /** Returns undefined if the value cannot be loaded within a second. Never rejects. */
  async read(): Promise<T | undefined> {
    if (!this.loading || performance.now() >= this.freshUntil) this.loading = this.load();
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`Reading took longer than ${TIMEOUT} ms`)), TIMEOUT);
    });
    try {
      return await Promise.race([this.loading, timeout]);
    } catch (error) {
      this.options.onFailure(error);
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  private async load(): Promise<T> {
    this.freshUntil = Infinity;
    const start = performance.now();
    const { load, freshFor = DEFAULT_MAX_AGE, agePerLoadTime = DEFAULT_AGE_PER_LOAD_TIME } = this.options;
    let age = 0;
    try {
      const value = await load();
      age = freshFor;
      return value;
    } finally {
      const now = performance.now();
      this.freshUntil = now + Math.max(age, agePerLoadTime * (now - start));
    }
  }
}
