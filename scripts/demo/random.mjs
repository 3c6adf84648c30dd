/** A source of numbers that are the same in every run (mulberry32). */
export class Random {
  #state;

  constructor(seed) {
    this.#state = seed;
  }

  /** Returns a number from 0 up to, but not including, 1. */
  number() {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let value = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer from `min` to `max`. */
  integer(min, max) {
    return min + Math.floor(this.number() * (max - min + 1));
  }

  chance(probability) {
    return this.number() < probability;
  }

  of(values) {
    return values[this.integer(0, values.length - 1)];
  }

  hex(length) {
    return Array.from({ length }, () => this.integer(0, 15).toString(16)).join('');
  }

  uuid() {
    const digits = this.hex(32);
    const parts = [
      digits.slice(0, 8),
      digits.slice(8, 12),
      `4${digits.slice(13, 16)}`,
      `a${digits.slice(17, 20)}`,
      digits.slice(20),
    ];
    return parts.join('-');
  }

  /** Returns milliseconds around a typical value, with a long tail. */
  latency(typical) {
    return Math.max(1, Math.round(typical * (0.6 + this.number()) * (this.chance(0.02) ? 6 : 1)));
  }
}
