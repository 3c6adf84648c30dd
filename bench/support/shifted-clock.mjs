/** `--import=…/shifted-clock.mjs?seconds=30` moves the time of day of a process, and nothing else of it. */
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
