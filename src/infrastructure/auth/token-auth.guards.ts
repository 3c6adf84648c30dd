import { Injectable, type ExecutionContext } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { isUUID } from 'class-validator';
import type { Request } from 'express';
import { ApiError, NOT_FOUND, TOO_MANY_REQUESTS } from '../errors/index.js';
import { requestContext, slashAtEndOf } from '../http/index.js';
import { FailedCredentials } from '../rate-limiting/index.js';
import {
  expiredToken,
  ExpiredToken,
  invalidToken,
  MCP_TOKEN,
  SERVICE_TOKEN,
  tokenIn,
  tokenOfAddress,
  type TokenKind,
} from './bearer-token.js';
import type { ShownRequest } from './bearer.strategy.js';
import { AgentLogins } from './ports.js';
import { currentAgentOf, type AuthenticatedAgent } from './principals.js';

/** The parameter of the routes of one API client. */
const ADDRESS = 'client_id';
const NO_ADDRESS =
  'There is no agent connector at this address, which must end with the ID of an API client, as in /mcp/19b11f7c-4c8e-49bf-853e-3cea2462349f.';

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

    /**
     * Shows the header alone to passport-http-bearer, with one space after the scheme, where RFC 9110, section 11.4, allows
     * several. The package also accepts tokens in the query and the body, which end up in histories and logs (RFC 9700,
     * section 4.3.2), and refuses requests that have a parameter of this name for another purpose.
     */
    override getRequest(context: ExecutionContext): ShownRequest {
      const whole = super.getRequest(context) as Request;
      return { headers: { authorization: whole.headers.authorization?.replace(/ +/, ' ') }, whole };
    }

    /** Passport waits for the promise that this method returns. `getRequest` hid the request from it, which gets its user here. */
    override handleRequest<User>(
      error: unknown,
      user: User | false,
      _challenge: unknown,
      context: ExecutionContext,
    ): User {
      const request = context.switchToHttp().getRequest<Request>();
      if (user && this.accepts(user, request)) {
        request.user = user as Express.User;
        return user;
      }
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
      // The client is known if the token is a key of it that was refused.
      const { client } = requestContext(request);
      const excess =
        authorization === undefined ? undefined : await this.failures?.count(request, client?.clientId);
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
 * request log: `JsonRpcMessageGuard`, which reads the message later, includes them again.
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
    const attributed = Object.assign(requestContext(request), { client, externalUserId, agent });
    // The message, if it was read, has decided whether the request is recorded.
    if (request.body === undefined) attributed.excludeFromRequestLog();
    return true;
  }

  override async kindOf(request: Request): Promise<TokenKind> {
    const clientId = request.params[ADDRESS];
    const url = clientId === undefined ? undefined : await this.logins.metadataUrlOf(String(clientId));
    return url === undefined ? MCP_TOKEN : tokenOfAddress(url + slashAtEndOf(request));
  }

  /** @throws ApiError NOT_FOUND at an address of no API client: logging in would not help */
  override refuse(request: Request, isExpired: boolean): Promise<never> {
    const clientId = request.params[ADDRESS];
    if (clientId !== undefined && !isUUID(clientId)) throw NOT_FOUND.error(NO_ADDRESS);
    return super.refuse(request, isExpired);
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
