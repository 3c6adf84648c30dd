import { Option, type OptionMetadata } from 'nest-commander';
import { OperatorError } from '../../infrastructure/errors/index.js';
import { isTimestamp, MESSAGES } from '../../infrastructure/validation/index.js';

interface CommandOption extends OptionMetadata {
  /** @param previous the result for the previous occurrence of an option that can be repeated */
  readonly parse?: (text: string, previous?: unknown) => unknown;
}

export const CLIENT = { flags: '--client <client_id>', description: 'the API client', required: true };
export const ORGANIZATION = { flags: '--organization <id>', description: 'the organization', required: true };
export const USER = {
  flags: '--user <user_id>',
  description: 'the user, as listed by `user list`',
  required: true,
};
export const ENDPOINT = {
  flags: '--endpoint <webhook_endpoint_id>',
  description: 'the webhook endpoint, as listed by `endpoint list`',
  required: true,
};
export const FORMAT = { flags: '--format <format>', description: 'csv or ndjson', required: true };

/**
 * Declares the options of a command in one place, each under the name of its flag. nest-commander expects a method for
 * each option, although most of these methods would only return the option's text.
 */
export function Options(options: Readonly<Record<string, CommandOption>>): ClassDecorator {
  return ({ prototype }) => {
    for (const [name, { parse = (text: string) => text, ...option }] of Object.entries(options)) {
      const descriptor = { value: (text: string, previous?: unknown) => parse(text, previous) };
      Option(option)(prototype as object, name, descriptor);
      Object.defineProperty(prototype, name, descriptor);
    }
  };
}

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
 * Parses a number in plain digits. Returns NaN for anything else, which every command rejects. `Number('')` is 0, so an
 * unset variable in a script would be read as 0.
 */
export function parseNumber(text: string): number {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
}
