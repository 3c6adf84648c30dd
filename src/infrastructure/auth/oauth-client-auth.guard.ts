import { Injectable, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { RATE_LIMIT_EXCEEDED } from '../errors/index.js';
import { requestContext } from '../http/index.js';
import { BasicAuthGuard } from './basic-auth.guard.js';
import { parseBasicCredentials, type BasicCredentials } from './basic-credentials.js';

/**
 * Authenticates an API client at an OAuth endpoint. Such a request is not part of the platform API, so it is not
 * recorded in the request log. OAuth libraries form-encode both parts of the credentials (RFC 6749, section 2.3.1).
 */
@Injectable()
export class OAuthClientAuthGuard extends BasicAuthGuard {
  protected override readonly tooManyFailures = RATE_LIMIT_EXCEEDED;

  override canActivate(context: ExecutionContext): Promise<boolean> {
    requestContext(context.switchToHttp().getRequest<Request>()).isRecorded = false;
    return super.canActivate(context);
  }

  protected override readCredentials(header: string | undefined): BasicCredentials | undefined {
    const credentials = parseBasicCredentials(header);
    if (!credentials) return undefined;
    try {
      return {
        clientId: decodeURIComponent(credentials.clientId),
        secret: decodeURIComponent(credentials.secret),
      };
    } catch {
      return credentials;
    }
  }
}
