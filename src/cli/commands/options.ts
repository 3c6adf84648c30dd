import { DEFAULT_OVERLAP_HOURS, MAX_OVERLAP_HOURS } from '../../infrastructure/crypto/index.js';
import { OperatorError } from '../../infrastructure/errors/index.js';
import { isTimestamp, MESSAGES } from '../../infrastructure/validation/index.js';
import { requiredOption } from '../operator-command.js';

export const CLIENT = requiredOption('--client <client_id>', 'the API client');
export const ORGANIZATION = requiredOption('--organization <id>', 'the organization');
export const FORMAT = requiredOption('--format <format>', 'csv or ndjson');

/** What `--overlap-hours` accepts. */
export const OVERLAP_RANGE = `0 to ${MAX_OVERLAP_HOURS} (default: ${DEFAULT_OVERLAP_HOURS})`;

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
