import { Injectable, type ExecutionContext } from '@nestjs/common';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import type { StrategyCreated } from 'passport';
import { Strategy as PassportBearerStrategy } from 'passport-http-bearer';
import { ApiError, TOO_MANY_REQUESTS } from '../errors/index.js';
import { requestContext } from '../http/index.js';
import { FailedCredentials } from '../rate-limiting/index.js';
import {
  expiredToken,
  ExpiredToken,
  invalidToken,
  isWellFormedToken,
  MCP_TOKEN,
  SERVICE_TOKEN,
  tokenIn,
  tokenOfAddress,
  type TokenKind,
} from './bearer-token.js';
import type { DashboardIdentity } from './dashboard-actor.js';
import { AgentLogins, type TokenVerifier } from './ports.js';
import { currentAgentOf, type AuthenticatedAgent, type AuthenticatedService } from './principals.js';

/** The parameter of the routes of one API client. */
const ADDRESS = 'client_id';

type TokenStrategyClass<User> = new (verifier: TokenVerifier<User>) => {
  validate(token: string): Promise<User | false>;
};

function TokenStrategy<User extends object>(name: string): TokenStrategyClass<User> {
  return class extends PassportStrategy(PassportBearerStrategy, name) {
    constructor(private readonly verifier: TokenVerifier<User>) {
      super();
    }

    /**
     * Shows the header alone to passport-http-bearer, with one space after the scheme, where RFC 9110, section 11.4, allows
     * several. The package also accepts tokens in the query and the body, which end up in histories and logs (RFC 9700,
     * section 4.3.2), and refuses requests that have a parameter of this name for another purpose.
     */
    override authenticate(this: StrategyCreated<this>, request: Request, options?: object): void {
      const authorization = request.headers.authorization?.replace(/ +/, ' ');
      super.authenticate({ headers: { authorization } } as Request, options);
    }

    /** @throws ExpiredToken */
    async validate(token: string): Promise<User | false> {
      const user = isWellFormedToken(token) && (await this.verifier.verify(token));
      if (user === 'expired') throw new ExpiredToken();
      return user || false;
    }
  };
}

/** Authenticates dashboard users by the access tokens of the device flow. */
export class AccessTokenStrategy extends TokenStrategy<DashboardIdentity>('access-token') {}

/** Authenticates the platform's own services. */
export class ServiceTokenStrategy extends TokenStrategy<AuthenticatedService>('service-token') {}

/** Authenticates agents. */
export class McpTokenStrategy extends TokenStrategy<AuthenticatedAgent>('mcp-token') {}

/**
 * Creates a guard for the tokens of a surface. Requests without a valid token get a 401 response that tells missing
 * credentials, another scheme, an expired token and an invalid token apart, and nothing else.
 */
export function TokenAuthGuard(strategy: string, kind: TokenKind) {
  @Injectable()
  class Guard extends AuthGuard(strategy) {
    /** @param failures limits wrong tokens from one IP address (429), for tokens that could be guessed */
    constructor(private readonly failures?: FailedCredentials) {
      super();
    }

    /** Passport waits for the promise that this method returns. */
    override handleRequest<User>(
      error: unknown,
      user: User | false,
      _challenge: unknown,
      context: ExecutionContext,
    ): User {
      const request = context.switchToHttp().getRequest<Request>();
      if (user && this.accepts(user, request)) return user;
      const isExpired = error instanceof ExpiredToken;
      if (error && !isExpired) throw error;
      return this.refuse(request, isExpired) as User;
    }

    /** Returns what the responses say about tokens of this address. */
    async kindOf(_request: Request): Promise<TokenKind> {
      return kind;
    }

    /** Returns whether a valid token may be used at this address. */
    accepts(_user: unknown, _request: Request): boolean {
      return true;
    }

    /** @throws ApiError INVALID_ACCESS_TOKEN or TOO_MANY_REQUESTS */
    async refuse(request: Request, isExpired: boolean): Promise<never> {
      const { authorization } = request.headers;
      const described = await this.kindOf(request);
      const token = tokenIn(authorization, described);
      const excess = authorization === undefined ? undefined : await this.failures?.count(request);
      if (excess) throw TOO_MANY_REQUESTS.error(undefined, excess);
      if (token instanceof ApiError) throw token;
      throw isExpired ? expiredToken(described) : invalidToken(described, token);
    }
  }
  return Guard;
}

/** Admits the platform's own services. */
@Injectable()
export class ServiceTokenAuthGuard extends TokenAuthGuard('service-token', SERVICE_TOKEN) {}

/**
 * Admits agents, and attributes their requests to the client and user of the token. Only tool calls are recorded in the
 * request log: `JsonRpcMessageGuard`, which reads the message later, sets `isRecorded` again for them.
 */
@Injectable()
export class McpTokenAuthGuard extends TokenAuthGuard('mcp-token', MCP_TOKEN) {
  constructor(
    failures: FailedCredentials,
    private readonly logins: AgentLogins,
  ) {
    super(failures);
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    await super.canActivate(context);
    const request = context.switchToHttp().getRequest<Request>();
    const { client, externalUserId, agent } = currentAgentOf(request);
    Object.assign(requestContext(request), { client, externalUserId, agent, isRecorded: false });
    return true;
  }

  override async kindOf({ params }: Request): Promise<TokenKind> {
    const clientId = params[ADDRESS];
    const url = clientId === undefined ? undefined : await this.logins.metadataUrlOf(String(clientId));
    return url === undefined ? MCP_TOKEN : tokenOfAddress(url);
  }

  /**
   * Accepts tokens at the address that they were issued for (RFC 8707), and tokens that an API client created at the common
   * address and at that of the client.
   */
  override accepts({ client, agent }: AuthenticatedAgent, { params }: Request): boolean {
    const clientId = params[ADDRESS];
    return clientId === undefined ? agent === null : String(clientId).toLowerCase() === client.clientId;
  }
}
