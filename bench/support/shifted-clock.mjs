/** `--import=…/shifted-clock.mjs?seconds=30` shifts the wall clock of a process without affecting its timers. */
const shift = 1000 * Number(new URL(import.meta.url).searchParams.get('seconds'));
const TrueDate = Date;

globalThis.Date = class Date extends TrueDate {
  constructor(...values) {
    super(...(values.length === 0 ? [TrueDate.now() + shift] : values));
  }

  static now() {
    return TrueDate.now() + shift;
  }
};
