import { Injectable } from '@nestjs/common';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import type { StrategyCreated } from 'passport';
import { Strategy as PassportBearerStrategy } from 'passport-http-bearer';
import { ApiError, TOO_MANY_REQUESTS } from '../errors/index.js';
import { requestContext } from '../http/index.js';
import type { FailedCredentials } from '../rate-limiting/index.js';
import {
  ACCESS_TOKEN,
  expiredToken,
  invalidToken,
  MCP_TOKEN,
  SERVICE_TOKEN,
  tokenIn,
  tokenOfAddress,
  type TokenKind,
} from './bearer-token.js';
import type { DashboardIdentity } from './dashboard-actor.js';
import type { AgentLogins, TokenVerifier } from './ports.js';
import type { AuthenticatedAgent, AuthenticatedService } from './principals.js';

/** The parameter of the routes of one API client. */
const ADDRESS = 'client_id';

/** @param failures limits wrong tokens from one IP address (429), for tokens that could be guessed */
type TokenStrategyClass<User> = new (
  verifier: TokenVerifier<User>,
  failures?: FailedCredentials,
) => {
  validate(request: Request): Promise<User>;
  kindOf(request: Request): Promise<TokenKind>;
  accepts(user: User, request: Request): boolean;
};

/**
 * Creates a Passport strategy for the tokens of a surface. Requests without a valid token get a 401 response that tells
 * missing credentials, another scheme, an expired token and an invalid token apart, and nothing else.
 */
function TokenStrategy<User extends object>(name: string, kind: TokenKind): TokenStrategyClass<User> {
  return class extends PassportStrategy(PassportBearerStrategy, name) {
    constructor(
      private readonly verifier: TokenVerifier<User>,
      private readonly failures?: FailedCredentials,
    ) {
      super();
    }

    /**
     * Reads the header only: passport-http-bearer also accepts tokens from the query and the body, which end up in histories
     * and logs (RFC 9700, section 4.3.2), and responds to some malformed headers with 400.
     */
    override authenticate(this: StrategyCreated<this>, request: Request): void {
      this.validate(request).then(
        (user) => this.success(user),
        (error: unknown) => this.error(error),
      );
    }

    /** @throws ApiError INVALID_ACCESS_TOKEN or TOO_MANY_REQUESTS */
    async validate(request: Request): Promise<User> {
      const { authorization } = request.headers;
      const user = await this.userOf(request);
      if (!(user instanceof ApiError)) return user;
      const excess = authorization === undefined ? undefined : await this.failures?.count(request);
      throw excess ? TOO_MANY_REQUESTS.error(undefined, excess) : user;
    }

    /** Returns what the responses say about tokens of this address. */
    async kindOf(_request: Request): Promise<TokenKind> {
      return kind;
    }

    /** Returns whether a valid token may be used at this address. */
    accepts(_user: User, _request: Request): boolean {
      return true;
    }

    private async userOf(request: Request): Promise<User | ApiError> {
      const token = tokenIn(request.headers.authorization, kind);
      const user = token instanceof ApiError ? undefined : await this.verifier.verify(token);
      if (user && user !== 'expired' && this.accepts(user, request)) return user;
      const described = await this.kindOf(request);
      if (token instanceof ApiError) return tokenIn(request.headers.authorization, described) as ApiError;
      return user === 'expired' ? expiredToken(described) : invalidToken(described, token);
    }
  };
}

/** Authenticates dashboard users by the access tokens of the device flow. */
export class AccessTokenStrategy extends TokenStrategy<DashboardIdentity>('access-token', ACCESS_TOKEN) {}

/** Authenticates the platform's own services. */
export class ServiceTokenStrategy extends TokenStrategy<AuthenticatedService>(
  'service-token',
  SERVICE_TOKEN,
) {}

/** Admits the platform's own services. */
@Injectable()
export class ServiceTokenAuthGuard extends AuthGuard('service-token') {}

/**
 * Authenticates agents, and attributes their requests to the client and user of the token. Only tool calls are recorded in the
 * request log: `JsonRpcMessageGuard`, which reads the message later, sets `isRecorded` again for them.
 */
export class McpTokenStrategy extends TokenStrategy<AuthenticatedAgent>('mcp-token', MCP_TOKEN) {
  constructor(
    verifier: TokenVerifier<AuthenticatedAgent>,
    failures: FailedCredentials,
    private readonly logins: AgentLogins,
  ) {
    super(verifier, failures);
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

  override async validate(request: Request): Promise<AuthenticatedAgent> {
    const user = await super.validate(request);
    const { client, externalUserId, agent } = user;
    Object.assign(requestContext(request), { client, externalUserId, agent, isRecorded: false });
    return user;
  }
}

/** Admits agents. */
@Injectable()
export class McpTokenAuthGuard extends AuthGuard('mcp-token') {}
