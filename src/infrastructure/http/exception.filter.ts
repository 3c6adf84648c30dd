import {
  Catch,
  HttpException,
  type ArgumentsHost,
  type ExceptionFilter as NestExceptionFilter,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { ApiError } from '../errors/index.js';
import { ErrorFormats } from './error-formats.js';
import { Failures } from './failures.js';
import { helpLink } from './help-link.js';
import { PROTECTIVE_HEADERS } from './protective-headers.js';
import { requestContext } from './request-context.js';
import { RouteTable } from './route-table.js';

/** Turns every thrown error into an `ApiError` and sends it as the error body of the specification, or in the `ErrorFormat` of
 * the route. Closes the connection if the response has already begun. */
@Catch()
export class ExceptionFilter implements NestExceptionFilter {
  constructor(
    private readonly routes: RouteTable,
    private readonly formats: ErrorFormats,
    private readonly failures: Failures,
  ) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    const error = this.translate(exception, request);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    // Errors must not be cached, even if the route allows caching.
    response.setHeader('Cache-Control', PROTECTIVE_HEADERS['Cache-Control']);
    response.setHeader('Link', helpLink(error.code));
    const format = this.formats.for(request);
    if (format) format.send(error, request, response);
    else response.status(error.status).set(error.headers).json(error.body);
  }

  private translate(exception: unknown, request: Request): ApiError {
    if (exception instanceof ApiError) return exception;
    if (exception instanceof HttpException && exception.getStatus() === 404)
      return this.routes.noRoute(request.path);
    const status = statusOf(exception);
    if (status >= 400 && status < 500) {
      return new ApiError('INVALID_REQUEST', 'INVALID_FIELD', 'The request is not valid.', status);
    }
    return this.failures.report(exception, requestContext(request).requestId);
  }
}

/** Libraries set a status on their errors, for example for a range that a static file does not have. */
function statusOf(exception: unknown): number {
  if (exception instanceof HttpException) return exception.getStatus();
  return Number((exception as { status?: unknown } | undefined)?.status ?? 500);
}
