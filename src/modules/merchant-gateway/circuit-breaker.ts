import { SECOND } from '../../infrastructure/time/index.js';

const FAILURES = 5;
/** Milliseconds until another request is tried. */
const RETRY_AFTER = 10 * SECOND;

/** Stops requests to a service after five failures in a row. Then lets one request through every 10 seconds until one succeeds. */
export class CircuitBreaker {
  private failures = 0;
  private retryAt = 0;

  /** @param now milliseconds on a clock that never goes back */
  constructor(private readonly now: () => number = () => performance.now()) {}

  get isOpen(): boolean {
    return this.failures >= FAILURES;
  }

  /** Returns whether a request may be sent now. */
  admit(): boolean {
    if (!this.isOpen) return true;
    if (this.now() < this.retryAt) return false;
    this.retryAt = this.now() + RETRY_AFTER;
    return true;
  }

  succeed(): void {
    this.failures = 0;
  }

  fail(): void {
    this.failures += 1;
    if (this.isOpen) this.retryAt = this.now() + RETRY_AFTER;
  }
}
