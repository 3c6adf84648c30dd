import { Injectable, Logger } from '@nestjs/common';
import { isDatabaseUnavailable } from '../database/index.js';
import { ApiError, INTERNAL_ERROR, SERVICE_UNAVAILABLE } from '../errors/index.js';

/** Seconds until clients should retry if the database is unavailable: about as long as a restart takes. */
const RETRY_AFTER_SECONDS = 5;

/** Turns what a handler throws into what the client may see, and logs the rest. */
@Injectable()
export class Failures {
  private readonly logger = new Logger('Http');

  /** Returns an `ApiError` as it is, and one without details for every other failure. */
  report(exception: unknown, requestId: string): ApiError {
    if (exception instanceof ApiError) return exception;
    const details = { request_id: requestId };
    if (isDatabaseUnavailable(exception)) {
      this.logger.warn(`The database is unavailable: ${(exception as Error).message}`, details);
      return SERVICE_UNAVAILABLE.error(undefined, { retryAfter: RETRY_AFTER_SECONDS });
    }
    this.logger.error('Unexpected error', exception, details);
    return INTERNAL_ERROR.error();
  }
}
