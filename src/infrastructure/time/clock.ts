import { Injectable } from '@nestjs/common';

/** The clocks. All code reads the wall clock here, so that tests can set the time. `test/architecture` enforces this. */
@Injectable()
export class Clock {
  now(): Date {
    return new Date();
  }

  /** Milliseconds since the epoch. */
  milliseconds(): number {
    return Date.now();
  }

  /**
   * Milliseconds on a clock that is never set. The age of what a process remembers is measured by it: otherwise, a wall clock that is
   * set back would keep it, for example a revoked secret, for as long.
   */
  monotonic(): number {
    return performance.now();
  }
}
