import { Injectable, type ExecutionContext } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { INVALID_API_KEYS } from '../errors/index.js';
import { requestContext } from '../http/index.js';
import {
  describeInvalidHeader,
  formatBasicCredentials,
  parseBasicCredentials,
  type BasicCredentials,
} from './basic-credentials.js';

/** RFC 7617, section 2.1: `charset` asks clients to encode in UTF-8. */
const CHALLENGE = 'Basic realm="Platform API", charset="UTF-8"';

/** Admits requests with valid credentials of an API client. Every other request gets the same 401 response. */
@Injectable()
export class BasicAuthGuard extends AuthGuard('basic') {
  override canActivate(context: ExecutionContext): Promise<boolean> {
    const { headers } = requestOf(context);
    const credentials = this.readCredentials(headers.authorization);
    if (!credentials) throw invalidCredentials(context);
    headers.authorization = formatBasicCredentials(credentials);
    return super.canActivate(context) as Promise<boolean>;
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
  requestContext(request).hint = describeInvalidHeader(request.headers.authorization);
  return INVALID_API_KEYS.error(undefined, { headers: { 'WWW-Authenticate': CHALLENGE } });
}

function requestOf(context: ExecutionContext): Request {
  return context.switchToHttp().getRequest<Request>();
}
