import { RATE_LIMIT_EXCEEDED, type ApiError } from '../../infrastructure/errors/index.js';

const SECONDS_PER_MINUTE = 60;

/** Returns the error for too many attempts. It does not reveal whether the account exists. */
export function tooManyAttempts(seconds: number): ApiError {
  const minutes = Math.ceil(seconds / SECONDS_PER_MINUTE);
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`;
  return RATE_LIMIT_EXCEEDED.error(`There were too many attempts. Try again in ${wait}.`, {
    retryAfter: seconds,
  });
}
