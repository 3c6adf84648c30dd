import { RATE_LIMIT_EXCEEDED, type ApiError } from '../errors/index.js';

const SECONDS_PER_MINUTE = 60;
const MINUTES_PER_HOUR = 60;

/**
 * Returns the error for too many attempts. It does not reveal whether the account exists.
 *
 * @param problem the first sentence of the message
 */
export function tooManyAttempts(seconds: number, problem = 'There were too many attempts.'): ApiError {
  const minutes = Math.ceil(seconds / SECONDS_PER_MINUTE);
  const wait =
    minutes === 1
      ? 'a minute'
      : minutes <= 2 * MINUTES_PER_HOUR
        ? `${minutes} minutes`
        : `${Math.ceil(minutes / MINUTES_PER_HOUR)} hours`;
  return RATE_LIMIT_EXCEEDED.error(`${problem} Try again in ${wait}.`, { retryAfter: seconds });
}
