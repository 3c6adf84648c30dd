import { Injectable, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { requestContext } from '../http/index.js';
import { BasicAuthGuard } from './basic-auth.guard.js';
import { parseBasicCredentials } from './basic-credentials.js';

/**
 * The credentials of an API client at an endpoint of OAuth. Such a call is none of the platform API, so it
 * leaves no entry in the request log; and OAuth's clients encode both parts as in a form before they join
 * them (RFC 6749, section 2.3.1), which no credentials of ours need but libraries do.
 */
@Injectable()
export class ClientAuthGuard extends BasicAuthGuard {
  override canActivate(context: ExecutionContext): ReturnType<BasicAuthGuard['canActivate']> {
    const request = context.switchToHttp().getRequest<Request>();
    requestContext(request).isRecorded = false;
    const decoded = decodeCredentials(request.headers.authorization);
    if (decoded !== undefined) request.headers.authorization = decoded;
    return super.canActivate(context);
  }
}

/** The header as it reads without the encoding; undefined where there is none to take away. */
function decodeCredentials(header: string | undefined): string | undefined {
  const credentials = parseBasicCredentials(header);
  if (!credentials) return undefined;
  try {
    const parts = [credentials.clientId, credentials.secret].map(decodeURIComponent);
    return `Basic ${Buffer.from(parts.join(':')).toString('base64')}`;
  } catch {
    return undefined;
  }
}
