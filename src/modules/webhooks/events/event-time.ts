import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { MINUTE } from '../../../infrastructure/time/index.js';
import { IntegerField } from '../../../infrastructure/validation/index.js';

/** Milliseconds by which the clock of a publisher may be ahead of ours. */
const MAX_AHEAD = 5 * MINUTE;
/** 2001-09-09. A time in seconds is below. */
const EARLIEST = 1_000_000_000_000;
/** The end of the year 9999. */
const LATEST = 253_402_300_799_999;

export const EVENT_IN_FUTURE = 'The timestamp field must not be more than 5 minutes in the future.';

/** The optional time of an event in a request that publishes it. */
export function EventTimestampField(): PropertyDecorator {
  return IntegerField({
    required: false,
    min: EARLIEST,
    max: LATEST,
    description:
      'When the event happened, in milliseconds since the Unix epoch; at most 5 minutes in the future. The default is the ' +
      'time of the request. `AUTHENTICATED` and `ACCOUNT_LOGIN_REQUIRED` do not change an account that an event with a later ' +
      'time has changed.',
    example: 1_710_864_923_198,
  });
}

/**
 * Checks the time of an event in a request.
 *
 * @throws ApiError INVALID_FIELD if it is in the future
 */
export function requireEventTime(timestamp: number | undefined, now: Date): void {
  if (timestamp !== undefined && timestamp > now.getTime() + MAX_AHEAD)
    throw INVALID_FIELD.error(EVENT_IN_FUTURE);
}
