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

  /** The current phase. */
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

  /** Ends the current phase. */
  stop(): void {
    if (this.current === undefined) return;
    const { phase, startedAt } = this.current;
    this.durations[phase] = Math.round(performance.now() - startedAt);
    this.current = undefined;
  }

  /** Ends the current phase and returns what was measured. */
  read(): RequestPhases {
    this.stop();
    return { ...this.durations, total: Math.round(performance.now() - this.startedAt) };
  }
}
