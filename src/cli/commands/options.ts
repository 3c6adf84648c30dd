import { DEFAULT_OVERLAP_HOURS, MAX_OVERLAP_HOURS } from '../../infrastructure/crypto/index.js';
import { OperatorError } from '../../infrastructure/errors/index.js';
import { isTimestamp, MESSAGES, readTimestamp } from '../../infrastructure/validation/index.js';
import { INVITATION_LIFETIME, type AddedDashboardUser } from '../../modules/dashboard-users/index.js';
import { requiredOption } from '../operator-command.js';

export const CLIENT = requiredOption('--client <client_id>', 'the API client');
export const ORGANIZATION = requiredOption('--organization <id>', 'the organization');
export const FORMAT = requiredOption('--format <format>', 'csv or ndjson');

/** The values that `--overlap-hours` accepts. */
export const OVERLAP_RANGE = `0 to ${MAX_OVERLAP_HOURS} (default: ${DEFAULT_OVERLAP_HOURS})`;

/** Reads an option that can be repeated, and whose values can be separated by commas. */
export function listed(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, ...text.split(',').map((each) => each.trim())];
}

/** Milliseconds after which a generated password, which an operator has seen, expires. */
export const PASSWORD_LIFETIME = INVITATION_LIFETIME;

/** Returns what a command prints about a password that was generated. */
export function generatedPassword({ password, passwordExpiresAt }: AddedDashboardUser): object {
  return { password, password_expires_at: passwordExpiresAt };
}

export interface PeriodOptions {
  readonly start?: string;
  readonly end?: string;
}

/** Returns the bounds as they are read. @throws OperatorError if a bound is not a time, or the start is after the end */
export function readPeriod(options: PeriodOptions): PeriodOptions {
  const period = { start: readTimestamp(options.start), end: readTimestamp(options.end) } as PeriodOptions;
  for (const [name, value] of Object.entries(period)) {
    if (value !== undefined && !isTimestamp(value)) throw new OperatorError(MESSAGES.timestamp(name));
  }
  const { start, end } = period;
  if (start !== undefined && end !== undefined && Date.parse(start) > Date.parse(end))
    throw new OperatorError('The start must not be after the end.');
  return period;
}
