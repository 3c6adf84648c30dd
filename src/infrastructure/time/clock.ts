import { Injectable } from '@nestjs/common';

/**
 * The wall clock. Everything that asks for the time of day asks here, so that a test can move it
 * and so that no other file can read it unnoticed (`test/architecture`).
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
