import {
  Inject,
  Injectable,
  mixin,
  type CanActivate,
  type ExecutionContext,
  type Type,
} from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { RATE_LIMIT_EXCEEDED, TOO_MANY_REQUESTS, type ErrorKind } from '../errors/index.js';
import { requestContext, type FormFields } from '../http/index.js';
import { FailedCredentials } from '../rate-limiting/index.js';
import {
  asSent,
  describeWrongCredentials,
  formDecoded,
  invalidCredentials,
  readBasicCredentials,
  REFUSED_TOKEN,
  type HeaderProblem,
} from './basic-credentials.js';
import { verified } from './basic.strategy.js';
import { usesBearerScheme } from './bearer-token.js';
import { clientOfBearer } from './credentials-check.js';
import { CredentialVerifier, KeyTokenVerifier } from './ports.js';

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
      const { authorization } = request.headers;
      const read = readBasicCredentials(authorization);
      if ('message' in read) {
        const isBearer = usesBearerScheme(authorization);
        const { message, hint } = isBearer ? this.problemOfBearer(read) : read;
        context.hint = hint;
        if (isBearer) await this.count(request, context.client?.clientId);
        throw invalidCredentials(message);
      }
      const credentials = decode(read);
      // passport-http ends the secret at its second colon, and does not call `validate()` if one of both is empty.
      if (credentials.clientId === '' || /^(?::|$)/.test(read.secret))
        await verified(this.verifier, request, credentials);
      context.hint = describeWrongCredentials(credentials);
      // The request log says why a key was refused, also at OAuth endpoints.
      if (context.refusal !== undefined) context.includeInRequestLog();
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

/** Admits API clients, also with an API key or its access token as a Bearer token. */
@Injectable()
export class BasicAuthGuard extends ClientAuthGuard('basic', TOO_MANY_REQUESTS) {
  @Inject()
  private readonly keyTokens!: KeyTokenVerifier;

  override canActivate(context: ExecutionContext): ReturnType<CanActivate['canActivate']> {
    const request = context.switchToHttp().getRequest<Request>();
    return usesBearerScheme(request.headers.authorization)
      ? this.admitBearer(request, context)
      : super.canActivate(context);
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

/** Admits API clients to an OAuth endpoint. Such requests are not recorded in the request log. */
@Injectable()
export class OAuthClientAuthGuard extends ClientAuthGuard('oauth-client', RATE_LIMIT_EXCEEDED, formDecoded) {
  override canActivate(context: ExecutionContext): ReturnType<CanActivate['canActivate']> {
    requestContext(context.switchToHttp().getRequest<Request>()).excludeFromRequestLog();
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
      const request = context.switchToHttp().getRequest<Request>();
      const form = request.body as FormFields;
      const [grantType = ''] = form.all('grant_type');
      if (!grantTypes.includes(grantType)) return true;
      request.headers.authorization ??= basicCredentialsIn(form);
      return (await super.canActivate(context)) as boolean;
    }
  }
  return mixin(Guard);
}

/** Returns the header that means the same as the client ID and the secret in a form (RFC 6749, section 2.3.1). */
function basicCredentialsIn(form: FormFields): string | undefined {
  const parts = [form.get('client_id'), form.get('client_secret')];
  if (parts.includes(undefined)) return undefined;
  return `Basic ${Buffer.from(parts.map((part) => encodeURIComponent(part ?? '')).join(':')).toString('base64')}`;
}
