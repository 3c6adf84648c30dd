import {
  Catch,
  HttpException,
  Inject,
  Injectable,
  Logger,
  type ArgumentsHost,
  type ExceptionFilter as NestExceptionFilter,
} from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { isDatabaseUnavailable, isRefusal, isStatementCanceled, isTransient } from '../database/index.js';
import { ApiError, INTERNAL_ERROR, SERVICE_UNAVAILABLE, type ErrorCode } from '../errors/index.js';
import { PROTECTIVE_HEADERS } from './protective-headers.js';
import { requestContext } from './request-context.js';
import { RouteTable } from './route-table.js';

/** Seconds until clients should retry if the database is unavailable: about as long as a restart takes. */
const RETRY_AFTER_SECONDS = 5;

const ERROR_BODY = 'errorBody';

/** Returns the value of the `Link` header that points to the documentation of an error (RFC 8288). */
export function helpLink(code: ErrorCode): string {
  return `</docs/errors#${code.toLowerCase()}>; rel="help"`;
}

/** Turns what a handler throws into what the client may see, and logs the rest. */
@Injectable()
export class Failures {
  private readonly logger = new Logger('Http');
  /** When the database last refused to do the work of a request, in milliseconds of a monotonic clock. */
  refusedAt = -Infinity;

  /** Returns an `ApiError` as it is, and one without details for every other failure. */
  toApiError(exception: unknown, requestId: string): ApiError {
    if (exception instanceof ApiError) return exception;
    const details = { request_id: requestId };
    if (isRefusal(exception)) this.refusedAt = performance.now();
    if (isDatabaseUnavailable(exception) || isTransient(exception)) {
      const cause = isTransient(exception)
        ? 'A transaction was rolled back again and again'
        : isStatementCanceled(exception)
          ? 'The database canceled a statement'
          : 'The database is unavailable';
      this.logger.warn(`${cause}: ${(exception as Error).message}`, details);
      return SERVICE_UNAVAILABLE.error(undefined, { retryAfter: RETRY_AFTER_SECONDS });
    }
    this.logger.error('Unexpected error', exception, details);
    return INTERNAL_ERROR.error();
  }
}

/**
 * Turns every thrown error into an `ApiError`, records the request, and sends the error body of the specification. Closes the
 * connection if the response has already begun. Subclasses, which controllers name in `@UseFilters`, send other bodies.
 */
@Catch()
export class ExceptionFilter implements NestExceptionFilter {
  @Inject()
  protected readonly routes!: RouteTable;
  @Inject()
  private readonly failures!: Failures;

  catch(exception: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    const error = this.translate(exception, request);
    requestContext(request).error = error;
    if (response.headersSent) {
      response.destroy();
      return;
    }
    // Errors must not be cached, even if the route allows caching.
    response
      .status(error.status)
      .set({ 'Cache-Control': PROTECTIVE_HEADERS['Cache-Control'], Link: helpLink(error.code) });
    this.respond(error, request, response).catch((failure: unknown) => {
      this.failures.toApiError(failure, requestContext(request).requestId);
      response.destroy();
    });
  }

  /** Returns an object for JSON, or HTML. May change the status and the headers. */
  protected bodyOf(
    error: ApiError,
    request: Request,
    { locals }: Response,
  ): object | string | Promise<object | string> {
    const bodyOf = locals[ERROR_BODY] as ((error: ApiError, request: Request) => object) | undefined;
    return bodyOf?.(error, request) ?? error.body;
  }

  private async respond(error: ApiError, request: Request, response: Response): Promise<void> {
    await requestContext(request).recordNow();
    const body = await this.bodyOf(error, request, response.set(error.headers));
    if (response.headersSent) return;
    if (typeof body === 'string') response.send(body);
    else response.json(body);
  }

  private translate(exception: unknown, request: Request): ApiError {
    if (exception instanceof ApiError) return exception;
    if (exception instanceof HttpException && exception.getStatus() === 404)
      return this.routes.noRoute(request.path);
    const status = statusOf(exception);
    if (status >= 400 && status < 500) {
      return new ApiError('INVALID_REQUEST', 'INVALID_FIELD', 'The request is not valid.', status);
    }
    return this.failures.toApiError(exception, requestContext(request).requestId);
  }
}

/** Libraries set a status on their errors, for example for a range that a static file does not have. */
function statusOf(exception: unknown): number {
  if (exception instanceof HttpException) return exception.getStatus();
  return Number((exception as { status?: unknown } | undefined)?.status ?? 500);
}

/** Creates middleware with which the errors of requests that no route accepts have another body than that of the API. */
export function withErrorBody(bodyOf: (error: ApiError, request: Request) => object) {
  return (_request: Request, response: Response, next: NextFunction): void => {
    response.locals[ERROR_BODY] = bodyOf;
    next();
  };
}
