import { SECOND } from '../time/index.js';

/** Milliseconds. */
const RECENT_LOGIN_MAX_AGE = 5 * SECOND;
const TIMEOUT = SECOND;
/** What takes long is asked for less often: the statements of one reading keep a connection busy for 2 % of the time. */
const REST = 50;

export interface CachedValueOptions<T> {
  readonly load: () => Promise<T>;
  readonly onFailure: (error: unknown) => void;
  /** Milliseconds for which a value is good enough: 5 s unless it says otherwise. */
  readonly freshFor?: number;
}

/**
 * Something that costs a statement to know: asked for now and then, once at a time, however many ask here, and not
 * waited for when the database is slow, so that whoever looks for the cause still gets all other metrics.
 */
export class CachedValue<T> {
  private kept: { readonly value: T; readonly until: number } | undefined;
  private loading: Promise<T> | undefined;

  constructor(private readonly options: CachedValueOptions<T>) {}

  /** Undefined when it could not be had within a second. Never rejects. */
  async read(): Promise<T | undefined> {
    if (this.kept && performance.now() < this.kept.until) return this.kept.value;
    this.loading ??= this.load();
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`It took longer than ${TIMEOUT} ms`)), TIMEOUT);
    });
    try {
      return await Promise.race([this.loading, patience]);
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
      this.kept = {
        value,
        until: now + Math.max(this.options.freshFor ?? RECENT_LOGIN_MAX_AGE, REST * (now - start)),
      };
      return value;
    } finally {
      this.loading = undefined;
    }
  }
}
