import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
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

type DecodeCredentials = (credentials: BasicCredentials) => BasicCredentials;
const asSent: DecodeCredentials = (credentials) => credentials;

function ClientStrategy(name: string, decode = asSent) {
  @Injectable()
  class Strategy extends PassportStrategy(PassportBasicStrategy, name) {
    constructor(private readonly verifier: CredentialVerifier) {
      super({ passReqToCallback: true });
    }

    /** passport-http expects one space after the scheme, where RFC 9110, section 11.4, allows several. */
    override authenticate(this: StrategyCreated<this>, request: Request, options?: object): void {
      const { headers } = request;
      if (headers.authorization?.includes('  '))
        headers.authorization = headers.authorization.replace(/ +/, ' ');
      super.authenticate(request, options);
    }

    async validate(request: Request, clientId: string, secret: string): Promise<AuthenticatedClient | false> {
      const { authorization } = request.headers;
      const encoded = Buffer.from(`${clientId}:${secret}`).toString('base64');
      // passport-http cuts the secret at a second colon, and decodes what is not base64 or not UTF-8.
      const isExact = authorization === `Basic ${encoded}`;
      const sent = isExact ? { clientId, secret } : readBasicCredentials(authorization);
      if ('message' in sent) return false;
      return verified(this.verifier, request, decode(sent));
    }
  }
  return Strategy;
}

/** Verifies credentials, and attributes the request to their client, also if they are wrong. */
async function verified(
  verifier: CredentialVerifier,
  request: Request,
  { clientId, secret }: BasicCredentials,
): Promise<AuthenticatedClient | false> {
  const context = requestContext(request);
  const check = await verifier.verify(clientId, secret).catch((error: unknown) => {
    // The failed request appears in the client's log, too.
    context.client = verifier.lastAccepted(clientId, secret);
    throw error;
  });
  if (check.client) context.client = check.client;
  return check.accepted && check.client;
}

/** Authenticates API clients on the platform API. */
export class BasicStrategy extends ClientStrategy('basic') {}

/** Authenticates API clients at OAuth endpoints. */
export class OAuthClientStrategy extends ClientStrategy('oauth-client', formDecoded) {}

/**
 * Creates a guard for API clients. All wrong credentials get the same 401 response, or 429 after too many failures; a request
 * without credentials in the right form is told what to send.
 */
function ClientAuthGuard(strategy: string, tooManyFailures: ErrorKind, decode = asSent) {
  @Injectable()
  class Guard extends AuthGuard(strategy) {
    constructor(
      private readonly verifier: CredentialVerifier,
      private readonly failures: FailedCredentials,
    ) {
      super();
    }

    /** Passport waits for the promise that this method returns. */
    override handleRequest<Client>(
      error: unknown,
      client: Client | false,
      _challenge: unknown,
      context: ExecutionContext,
    ): Client {
      if (client) return client;
      if (error) throw error;
      return this.refuse(context.switchToHttp().getRequest<Request>()) as Client;
    }

    /** @throws ApiError INVALID_API_KEYS, or the error for too many failures */
    private async refuse(request: Request): Promise<never> {
      const context = requestContext(request);
      const read = readBasicCredentials(request.headers.authorization);
      if ('message' in read) {
        context.hint = read.hint;
        throw invalidCredentials(read.message);
      }
      const credentials = decode(read);
      // passport-http ends the secret at its second colon, and does not call `validate()` if one of both is empty.
      if (credentials.clientId === '' || /^(?::|$)/.test(read.secret))
        await verified(this.verifier, request, credentials);
      context.hint = describeWrongCredentials(credentials);
      const excess = await this.failures.count(request, credentials.clientId);
      if (!excess) throw invalidCredentials();
      // In the request log, the first refused request stands for those that follow.
      context.isRecorded &&= excess.isFirst;
      throw tooManyFailures.error(undefined, excess);
    }
  }
  return Guard;
}

function invalidCredentials(message?: string): Error {
  return INVALID_API_KEYS.error(message, { headers: { 'WWW-Authenticate': CHALLENGE } });
}

/** Admits API clients. */
@Injectable()
export class BasicAuthGuard extends ClientAuthGuard('basic', TOO_MANY_REQUESTS) {}

/** Admits API clients to an OAuth endpoint. Such requests are not recorded in the request log. */
@Injectable()
export class OAuthClientAuthGuard extends ClientAuthGuard('oauth-client', RATE_LIMIT_EXCEEDED, formDecoded) {
  override canActivate(context: ExecutionContext): ReturnType<CanActivate['canActivate']> {
    requestContext(context.switchToHttp().getRequest<Request>()).isRecorded = false;
    return super.canActivate(context);
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
