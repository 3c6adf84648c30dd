import { OperatorError } from '../../infrastructure/errors/index.js';
import { isTimestamp, MESSAGES } from '../../infrastructure/validation/index.js';

export const CLIENT = { flags: '--client <client_id>', description: 'the API client', required: true };
export const ORGANIZATION = { flags: '--organization <id>', description: 'the organization', required: true };
export const FORMAT = { flags: '--format <format>', description: 'csv or ndjson', required: true };

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
