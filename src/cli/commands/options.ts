import { OperatorError } from '../../infrastructure/errors/index.js';
import { isTimestamp, MESSAGES } from '../../infrastructure/validation/index.js';

/** The options `--start` and `--end`. */
export interface PeriodOptions {
  readonly start?: string;
  readonly end?: string;
}

/** @throws OperatorError if a bound is not a time, or the start is after the end */
export function requirePeriod({ start, end }: PeriodOptions): void {
  for (const [name, value] of Object.entries({ start, end })) {
    if (value !== undefined && !isTimestamp(value)) throw new OperatorError(MESSAGES.timestamp(name));
  }
  if (start !== undefined && end !== undefined && Date.parse(start) > Date.parse(end))
    throw new OperatorError('The start must not be after the end.');
}

/**
 * Parses a number in plain digits. Returns NaN for anything else, which every command refuses. `Number('')` would be 0,
 * which an unset variable of a script must not mean.
 */
export function parseNumber(text: string): number {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
}
