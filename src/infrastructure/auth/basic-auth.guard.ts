import { Injectable, type ExecutionContext } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { ApiError, INVALID_API_KEYS, TOO_MANY_REQUESTS, type ErrorKind } from '../errors/index.js';
import { requestContext } from '../http/index.js';
import {
  describeInvalidHeader,
  describeMissingCredentials,
  formatBasicCredentials,
  parseBasicCredentials,
  type BasicCredentials,
} from './basic-credentials.js';
import { FailedCredentials } from './failed-credentials.js';

/** RFC 7617, section 2.1: `charset` asks clients to encode in UTF-8. */
const CHALLENGE = 'Basic realm="Platform API", charset="UTF-8"';

/**
 * Admits requests with valid credentials of an API client. All wrong credentials get the same 401 response, or 429 after
 * too many failures; a request without credentials in the right form is told what to send.
 */
@Injectable()
export class BasicAuthGuard extends AuthGuard('basic') {
  /** The error for too many requests with wrong credentials. */
  protected readonly tooManyFailures: ErrorKind = TOO_MANY_REQUESTS;

  constructor(private readonly failures: FailedCredentials) {
    super();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    const credentials = this.readCredentials(request.headers.authorization);
    if (!credentials) throw invalidCredentials(context);
    // passport-http parses the header again, and would cut the secret at a second colon.
    request.headers.authorization = formatBasicCredentials(credentials);
    try {
      return (await super.canActivate(context)) as boolean;
    } catch (error) {
      if (error instanceof ApiError && error.code === INVALID_API_KEYS.code)
        await this.refuseTooMany(request, credentials.clientId);
      throw error;
    }
  }

  private async refuseTooMany(request: Request, clientId: string): Promise<void> {
    const excess = await this.failures.count(request, clientId);
    if (!excess) return;
    const context = requestContext(request);
    // In the request log, the first refused request stands for those that follow.
    context.isRecorded &&= excess.isFirst;
    throw this.tooManyFailures.error(undefined, { retryAfter: excess.retryAfter, headers: excess.headers });
  }

  override handleRequest<Client>(
    error: unknown,
    client: Client,
    _info: unknown,
    context: ExecutionContext,
  ): Client {
    if (error) throw error;
    if (!client) throw invalidCredentials(context);
    return client;
  }

  protected readCredentials(header: string | undefined): BasicCredentials | undefined {
    return parseBasicCredentials(header);
  }
}

function invalidCredentials(context: ExecutionContext): Error {
  const request = requestOf(context);
  const { authorization } = request.headers;
  requestContext(request).hint = describeInvalidHeader(authorization);
  return INVALID_API_KEYS.error(describeMissingCredentials(authorization), {
    headers: { 'WWW-Authenticate': CHALLENGE },
  });
}

function requestOf(context: ExecutionContext): Request {
  return context.switchToHttp().getRequest<Request>();
}
