import { SECOND } from '../time/index.js';

/** Milliseconds. */
const DEFAULT_MAX_AGE = 5 * SECOND;
const TIMEOUT = SECOND;
/** A slow value is kept for 50 times its load time, so that loading takes at most 2 % of a connection's time. */
const MAX_AGE_PER_LOAD_TIME = 50;

export interface CachedValueOptions<T> {
  readonly load: () => Promise<T>;
  readonly onFailure: (error: unknown) => void;
  /** Milliseconds for which a value is kept. Default: 5 s. */
  readonly freshFor?: number;
}

/**
 * A value that costs a database statement. Concurrent readers share one load. Readers wait for one second at most, so
 * that a slow database does not delay the other metrics. A cache library would still need code for the time limit and
 * the variable age.
 */
export class CachedValue<T> {
  private cached: { readonly value: T; readonly until: number } | undefined;
  private loading: Promise<T> | undefined;

  constructor(private readonly options: CachedValueOptions<T>) {}

  /** Returns undefined if the value cannot be loaded within a second. Never rejects. */
  async read(): Promise<T | undefined> {
    if (this.cached && performance.now() < this.cached.until) return this.cached.value;
    this.loading ??= this.load();
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
    const start = performance.now();
    try {
      const value = await this.options.load();
      const now = performance.now();
      this.cached = {
        value,
        until:
          now + Math.max(this.options.freshFor ?? DEFAULT_MAX_AGE, MAX_AGE_PER_LOAD_TIME * (now - start)),
      };
      return value;
    } finally {
      this.loading = undefined;
    }
  }
}
