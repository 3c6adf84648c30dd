import {
  Inject,
  Injectable,
  mixin,
  type CanActivate,
  type ExecutionContext,
  type Type,
} from '@nestjs/common';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { BasicStrategy as PassportBasicStrategy } from 'passport-http';
import { ErrorKind, RATE_LIMIT_EXCEEDED, TOO_MANY_REQUESTS } from '../errors/index.js';
import { requestContext, type FormFields } from '../http/index.js';
import { FailedCredentials } from '../rate-limiting/index.js';
import {
  describeWrongCredentials,
  formDecoded,
  readBasicCredentials,
  REFUSED_TOKEN,
  type BasicCredentials,
  type HeaderProblem,
} from './basic-credentials.js';
import { ACCESS_TOKEN, tokenIn } from './bearer-token.js';
import { CredentialVerifier, KeyTokenVerifier } from './ports.js';
import type { AuthenticatedClient } from './principals.js';
import type { Scope } from './scopes.js';
import { INVALID_API_KEYS } from './auth-errors.js';

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
  const check = await verifier.verify(clientId, secret, request).catch((error: unknown) => {
    // The failed request appears in the client's log, too.
    context.client = verifier.lastAccepted(clientId, secret);
    throw error;
  });
  if (check.client) context.client = check.client;
  if (check.accepted) {
    context.apiKey = check.client.key?.name;
    context.secretVersion = check.client.secretVersion;
  } else context.refusal = check.refusal;
  return check.accepted && check.client;
}

/** Authenticates API clients on the platform API. */
export class BasicStrategy extends ClientStrategy('basic') {}

/** Authenticates API clients at OAuth endpoints. */
export class OAuthClientStrategy extends ClientStrategy('oauth-client', formDecoded) {}

/**
 * Creates a guard for API clients. All wrong credentials get the same 401 response, or 429 after too many failures; a request
 * without credentials in the right form gets a response that says what to send.
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

    /** passport-http expects one space after the scheme, where RFC 9110, section 11.4, allows several. */
    override getRequest(context: ExecutionContext): Request {
      const request = super.getRequest(context) as Request;
      const { headers } = request;
      if (headers.authorization?.includes('  '))
        headers.authorization = headers.authorization.replace(/ +/, ' ');
      return request;
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
        const { message, hint } = isBearer(request) ? this.problemOfBearer(read) : read;
        context.hint = hint;
        if (isBearer(request)) await this.count(request, context.client?.clientId);
        throw invalidCredentials(message);
      }
      const credentials = decode(read);
      // passport-http ends the secret at its second colon, and does not call `validate()` if one of both is empty.
      if (credentials.clientId === '' || /^(?::|$)/.test(read.secret))
        await verified(this.verifier, request, credentials);
      context.hint = describeWrongCredentials(credentials);
      // The request log says why a key was refused, also at OAuth endpoints.
      context.isRecorded ||= context.refusal !== undefined;
      await this.count(request, credentials.clientId);
      throw invalidCredentials();
    }

    /** Returns the problem with a Bearer token. @param otherScheme the problem that it is not Basic */
    problemOfBearer(otherScheme: HeaderProblem): HeaderProblem {
      return otherScheme;
    }

    /** @throws ApiError after too many failures */
    private async count(request: Request, clientId: string | undefined): Promise<void> {
      const excess = await this.failures.count(request, clientId);
      if (excess) throw tooManyFailures.error(undefined, excess);
    }
  }
  return Guard;
}

/** The error for credentials of a client that are wrong, missing, or have ended since the request was admitted. */
export function invalidCredentials(message?: string): Error {
  return INVALID_API_KEYS.error(message, { headers: { 'WWW-Authenticate': CHALLENGE } });
}

/** Admits API clients, also with an API key or its access token as a Bearer token. */
@Injectable()
export class BasicAuthGuard extends ClientAuthGuard('basic', TOO_MANY_REQUESTS) {
  @Inject()
  private readonly keyTokens!: KeyTokenVerifier;

  override canActivate(context: ExecutionContext): ReturnType<CanActivate['canActivate']> {
    const request = context.switchToHttp().getRequest<Request>();
    return isBearer(request) ? this.admitBearer(request, context) : super.canActivate(context);
  }

  private async admitBearer(request: Request, context: ExecutionContext): Promise<boolean> {
    const client = await clientOfBearer(this.keyTokens, request);
    if (!client) return (await super.canActivate(context)) as boolean;
    Object.assign(requestContext(request), { client, apiKey: client.key?.name });
    request.user = client;
    return true;
  }

  override problemOfBearer(): HeaderProblem {
    return REFUSED_TOKEN;
  }
}

function isBearer({ headers }: Request): boolean {
  return /^bearer\b/i.test(headers.authorization ?? '');
}

async function clientOfBearer(
  verifier: KeyTokenVerifier,
  request: Request,
): Promise<AuthenticatedClient | undefined> {
  const token = isBearer(request) && tokenIn(request.headers.authorization, ACCESS_TOKEN);
  return typeof token === 'string' ? verifier.clientOf(token, request) : undefined;
}

/** Admits API clients to an OAuth endpoint. Such requests are not recorded in the request log. */
@Injectable()
export class OAuthClientAuthGuard extends ClientAuthGuard('oauth-client', RATE_LIMIT_EXCEEDED, formDecoded) {
  override canActivate(context: ExecutionContext): ReturnType<CanActivate['canActivate']> {
    requestContext(context.switchToHttp().getRequest<Request>()).isRecorded = false;
    return super.canActivate(context);
  }
}

/**
 * Creates a guard that admits API clients to the token endpoint for the grants that require their credentials, and all other requests.
 * Follows the guard that reads the form.
 */
export function TokenClientAuthGuard(grantTypes: readonly string[]): Type<CanActivate> {
  @Injectable()
  class Guard extends OAuthClientAuthGuard {
    override async canActivate(context: ExecutionContext): Promise<boolean> {
      const form = context.switchToHttp().getRequest<Request>().body as FormFields;
      const [grantType = ''] = form.all('grant_type');
      return !grantTypes.includes(grantType) || ((await super.canActivate(context)) as boolean);
    }
  }
  return mixin(Guard);
}

/** Checks the credentials of a request again, for responses that stay open. */
@Injectable()
export class CredentialsCheck {
  constructor(
    private readonly verifier: CredentialVerifier,
    private readonly keyTokens: KeyTokenVerifier,
  ) {}

  /**
   * @param request has been admitted with its credentials
   * @param scope that an API key must still have
   */
  async areAccepted(request: Request, scope: Scope): Promise<boolean> {
    const client = await this.clientOf(request);
    return client !== undefined && (client.key?.scopes.has(scope) ?? true);
  }

  private async clientOf(request: Request): Promise<AuthenticatedClient | undefined> {
    const credentials = readBasicCredentials(request.headers.authorization);
    if ('message' in credentials) return clientOfBearer(this.keyTokens, request);
    const check = await this.verifier.verify(credentials.clientId, credentials.secret, request);
    return check.accepted ? check.client : undefined;
  }
}
