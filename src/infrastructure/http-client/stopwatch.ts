/** Milliseconds as integers. Null for a phase that was not reached; a failed phase counts until it failed. */
export interface RequestPhases {
  readonly dns: number | null;
  readonly connect: number | null;
  readonly tls: number | null;
  /** From the established connection to the response headers. */
  readonly firstByte: number | null;
  /** The whole request, including the wait for a free connection. */
  readonly total: number;
}

export type Phase = Exclude<keyof RequestPhases, 'total'>;

/** Measures the phases of one request with the monotonic clock. */
export class Stopwatch {
  private readonly startedAt = performance.now();
  private readonly durations: Record<Phase, number | null> = {
    dns: null,
    connect: null,
    tls: null,
    firstByte: null,
  };
  private current: { readonly phase: Phase; readonly startedAt: number } | undefined;

  get phase(): Phase | undefined {
    return this.current?.phase;
  }

  /** Returns the milliseconds of a phase that has ended; 0 if it was not reached. */
  duration(phase: Phase): number {
    return this.durations[phase] ?? 0;
  }

  /** Ends the current phase and starts the next one. */
  enter(phase: Phase): void {
    this.stop();
    this.current = { phase, startedAt: performance.now() };
  }

  stop(): void {
    if (this.current === undefined) return;
    const { phase, startedAt } = this.current;
    this.durations[phase] = Math.round(performance.now() - startedAt);
    this.current = undefined;
  }

  read(): RequestPhases {
    this.stop();
    return { ...this.durations, total: Math.round(performance.now() - this.startedAt) };
  }
}

/** Resolves or rejects with the work, or rejects with the signal's reason as soon as the signal aborts. */
export async function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // If the signal wins, the work may still reject later, which must not be an unhandled rejection.
  work.catch(() => undefined);
  signal.throwIfAborted();
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/**
 * Runs the work with a signal that aborts with `error` after the given milliseconds, or with the outer signal.
 * Rejects at that moment, whether or not the work honors its signal.
 */
export async function withDeadline<T>(
  milliseconds: number,
  error: Error,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(error), milliseconds);
  const signal = AbortSignal.any([outer, deadline.signal]);
  try {
    return await rejectOnAbort(work(signal), signal);
  } finally {
    clearTimeout(timer);
  }
}
