import { Injectable } from '@nestjs/common';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import type { StrategyCreated } from 'passport';
import { BasicStrategy as PassportBasicStrategy } from 'passport-http';
import { ErrorKind, RATE_LIMIT_EXCEEDED, TOO_MANY_REQUESTS } from '../errors/index.js';
import { requestContext } from '../http/index.js';
import { FailedCredentials } from '../rate-limiting/index.js';
import {
  describeWrongCredentials,
  formDecoded,
  readBasicCredentials,
  type BasicCredentials,
} from './basic-credentials.js';
import { CredentialVerifier } from './ports.js';
import type { AuthenticatedClient } from './principals.js';

export const INVALID_API_KEYS = new ErrorKind(401, 'INVALID_INPUT', 'INVALID_API_KEYS', {
  when: 'The Basic credentials are missing, malformed, unknown or wrong.',
  message: 'Invalid client_id or secret provided.',
});

/** RFC 7617, section 2.1: `charset` asks clients to encode in UTF-8. */
const CHALLENGE = 'Basic realm="Platform API", charset="UTF-8"';

interface ClientOptions {
  /** The request comes to an OAuth endpoint, which is not part of the platform API. */
  readonly isOAuth?: boolean;
}

/**
 * Authenticates API clients. All wrong credentials get the same 401 response, or 429 after too many failures; a request without
 * credentials in the right form is told what to send.
 */
@Injectable()
export class BasicStrategy extends PassportStrategy(PassportBasicStrategy, 'basic') {
  constructor(
    private readonly verifier: CredentialVerifier,
    private readonly failures: FailedCredentials,
  ) {
    super();
  }

  /** Reads the header itself: passport-http cuts the secret at a second colon, and decodes what is not base64. */
  override authenticate(this: StrategyCreated<this>, request: Request, options: ClientOptions): void {
    this.validate(request, options).then(
      (client) => this.success(client),
      (error: unknown) => this.error(error),
    );
  }

  /** @throws ApiError INVALID_API_KEYS, or the error for too many failures */
  async validate(request: Request, { isOAuth = false }: ClientOptions): Promise<AuthenticatedClient> {
    const context = requestContext(request);
    if (isOAuth) context.isRecorded = false;
    const read = readBasicCredentials(request.headers.authorization);
    if ('message' in read) {
      context.hint = read.hint;
      throw invalidCredentials(read.message);
    }
    const credentials = isOAuth ? formDecoded(read) : read;
    const { clientId, secret } = credentials;
    const check = await this.verifier.verify(clientId, secret).catch((error: unknown) => {
      // The failed request appears in the client's log, too.
      context.client = this.verifier.lastAccepted(clientId, secret);
      throw error;
    });
    // Also when the secret is wrong: the failed request appears in the client's log.
    if (check.client) context.client = check.client;
    if (check.accepted) return check.client;
    context.hint = describeWrongCredentials(credentials);
    throw (await this.tooManyFailures(request, credentials, isOAuth)) ?? invalidCredentials();
  }

  private async tooManyFailures(
    request: Request,
    { clientId }: BasicCredentials,
    isOAuth: boolean,
  ): Promise<Error | undefined> {
    const excess = await this.failures.count(request, clientId);
    if (!excess) return undefined;
    const context = requestContext(request);
    // In the request log, the first refused request stands for those that follow.
    context.isRecorded &&= excess.isFirst;
    return (isOAuth ? RATE_LIMIT_EXCEEDED : TOO_MANY_REQUESTS).error(undefined, excess);
  }
}

function invalidCredentials(message?: string): Error {
  return INVALID_API_KEYS.error(message, { headers: { 'WWW-Authenticate': CHALLENGE } });
}

/** Admits API clients. */
@Injectable()
export class BasicAuthGuard extends AuthGuard('basic') {}

/** Admits API clients to an OAuth endpoint. Such requests are not recorded in the request log. */
@Injectable()
export class OAuthClientAuthGuard extends BasicAuthGuard {
  override getAuthenticateOptions(): ClientOptions {
    return { isOAuth: true };
  }
}

/** Checks the credentials of a request again, for responses that stay open. */
@Injectable()
export class CredentialsCheck {
  constructor(private readonly verifier: CredentialVerifier) {}

  /** @param request has been admitted with its Basic credentials */
  async areAccepted({ headers }: Request): Promise<boolean> {
    const credentials = readBasicCredentials(headers.authorization);
    if ('message' in credentials) return false;
    return (await this.verifier.verify(credentials.clientId, credentials.secret)).accepted;
  }
}
