import { Global, Injectable, Module } from '@nestjs/common';

/**
 * The wall clock. All code uses it, so that tests can set the time. `test/architecture` enforces this.
 */
@Injectable()
export class Clock {
  now(): Date {
    return new Date();
  }

  /** Milliseconds since the epoch. */
  milliseconds(): number {
    return Date.now();
  }
}

@Global()
@Module({ providers: [Clock], exports: [Clock] })
export class TimeModule {}
