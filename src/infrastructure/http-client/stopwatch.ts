/** Milliseconds: integers, or null where the phase was not reached; of one that failed, until it did. */
export interface RequestPhases {
  readonly dns: number | null;
  readonly connect: number | null;
  readonly tls: number | null;
  /** From the standing connection to the head of the answer. */
  readonly firstByte: number | null;
  /** Everything, the wait for a free connection included. */
  readonly total: number;
}

type Phase = Exclude<keyof RequestPhases, 'total'>;

/** Measures the phases of one request, by a clock that nobody can set. */
export class Stopwatch {
  private readonly begun = performance.now();
  private readonly started = new Map<Phase, number>();
  private readonly ended = new Map<Phase, number>();

  async measure<T>(phase: Phase, work: () => Promise<T>): Promise<T> {
    this.started.set(phase, performance.now());
    this.ended.delete(phase);
    try {
      return await work();
    } finally {
      this.ended.set(phase, performance.now());
    }
  }

  /** What has been measured so far; a phase that is under way counts until now. */
  read(): RequestPhases {
    const now = performance.now();
    const of = (phase: Phase): number | null => {
      const start = this.started.get(phase);
      return start === undefined ? null : Math.round((this.ended.get(phase) ?? now) - start);
    };
    return {
      dns: of('dns'),
      connect: of('connect'),
      tls: of('tls'),
      firstByte: of('firstByte'),
      total: Math.round(now - this.begun),
    };
  }
}
