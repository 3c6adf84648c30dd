import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { Sealer, SecretDigest, sha256 } from '../../../infrastructure/crypto/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { INVALID_GRANT, scopesIn, type Grant } from '../../oauth/index.js';
import { hostOrSchemeOf } from '../agents/agent.js';
import { AgentsService } from '../agents/agents.service.js';
import { AgentAuthorizationsService } from '../authorizations/agent-authorizations.service.js';
import { AgentTokensService, CONNECTION_LIFETIME, type TokenClient } from './agent-tokens.service.js';
import { AgentConnectionsService } from './agent-connections.service.js';
import { AgentTokensBatch, type CodeAuthorization } from './agent-tokens.batch.js';
import { RedeemCodeRequest, RefreshTokensRequest, type AgentTokensResponse } from './tokens.dto.js';

const INVALID_CODE = 'The code is not valid. Start the authorization again.';
const INVALID_REFRESH_TOKEN = 'The refresh token is not valid. Start the authorization again.';

/** RFC 7636, section 4.1. */
const VERIFIER = /^[\w.~-]{43,128}$/;

@Injectable()
export class AgentGrants {
  readonly all: readonly Grant<TokenClient, object, AgentTokensResponse>[] = [
    {
      grantType: 'authorization_code',
      parameters: RedeemCodeRequest,
      handle: (client, request: RedeemCodeRequest) => this.exchangeCode(client, request),
    },
    {
      grantType: 'refresh_token',
      parameters: RefreshTokensRequest,
      handle: (client, request: RefreshTokensRequest) => this.refresh(client, request),
    },
  ];

  constructor(
    private readonly authorizations: AgentAuthorizationsService,
    private readonly agents: AgentsService,
    private readonly batch: AgentTokensBatch,
    private readonly connections: AgentConnectionsService,
    private readonly tokens: AgentTokensService,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /**
   * Exchanges a code (RFC 6749, section 4.1.3; RFC 7636, section 4.6), which creates a connection. A repeated
   * request gets the same response until somebody uses the tokens. A later one ends the
   * connection (RFC 6749, section 4.1.2), but only with the verifier: without it, the request is not that of the agent.
   *
   * @throws OAuthError `invalid_client` or `invalid_grant`
   */
  private async exchangeCode(client: TokenClient, request: RedeemCodeRequest): Promise<AgentTokensResponse> {
    const { issuer, agentId } = client;
    const found = await this.batch.authorizations.add(sha256(request.code));
    const isOfAgent = found?.clientId === issuer.clientId && found.agentId === agentId;
    if (isOfAgent) {
      // Not required (OAuth 2.1), but checked if the agent sends it.
      if ((request.redirect_uri ?? found.redirectUri) !== found.redirectUri)
        throw INVALID_GRANT.error('The redirect uri field must be that of the authorization request.');
      if (!isVerified(request.code_verifier, found.codeChallenge))
        throw INVALID_GRANT.error('The code verifier field does not match the code challenge.');
      const isApproved = found.status === 'approved';
      const tokens =
        (isApproved && (await this.redeem(client, found, request.code))) ||
        (await this.repeatCode(client, found.id, request.code));
      if (tokens) return tokens;
    }
    await this.agents.requireKnown(issuer, agentId);
    throw INVALID_GRANT.error(INVALID_CODE);
  }

  private async redeem(
    { issuer, agentId }: TokenClient,
    { id: authorizationId, scopes, phoneNumberSealed, ...authorization }: CodeAuthorization,
    code: string,
  ): Promise<AgentTokensResponse | undefined> {
    const id = randomUUID();
    const now = this.clock.now();
    const phoneNumber = this.sealer.openOptional(phoneNumberSealed, ['agent_authorization', authorizationId]);
    const connection = {
      id,
      externalUserId: authorization.externalUserId as string,
      agentName: authorization.agentName,
      agentHost: hostOrSchemeOf(authorization.redirectUri),
      phoneNumber,
    };
    const { response, stored } = this.tokens.issue(issuer, connection, { presented: code, scopes, now });
    const isRedeemed = await this.batch.redeem({
      ...stored,
      ...connection,
      authorizationId,
      client: issuer,
      registeredAgentId: isUUID(agentId) ? agentId : null,
      phoneNumberSealed: this.sealer.sealOptional(phoneNumber, ['agent_connection', id]),
      expiresAt: new Date(now.getTime() + CONNECTION_LIFETIME),
    });
    return isRedeemed ? response : undefined;
  }

  /** Returns the tokens that another request got for the same code, or ends its connection. */
  private async repeatCode(
    client: TokenClient,
    authorizationId: string,
    code: string,
  ): Promise<AgentTokensResponse | undefined> {
    const authorization = await this.authorizations.find(client.issuer, authorizationId);
    const connection =
      authorization?.connectionId && (await this.connections.find(authorization.connectionId));
    if (!connection || connection.expiresAt <= this.clock.now()) return undefined;
    return this.tokens.repeat(client, code, connection.id, connection.createdAt);
  }

  /**
   * Exchanges a refresh token for the next tokens (RFC 6749, section 6), and detects copies (OAuth 2.1, section 4.3.1). If the token
   * was used before, and its successors since then, two parties have it, so the connection ends.
   *
   * @throws OAuthError `invalid_client` or `invalid_grant`
   */
  private async refresh(client: TokenClient, request: RefreshTokensRequest): Promise<AgentTokensResponse> {
    const { refresh_token: presented, scope } = request;
    const presentedHash = sha256(presented);
    const now = this.clock.now();
    const found = await this.batch.connections.add(presentedHash);
    const isOfAgent = found?.clientId === client.issuer.clientId && found.agentId === client.agentId;
    if (!isOfAgent || found.expiresAt <= now) {
      await this.agents.requireKnown(client.issuer, client.agentId);
      if (!found) await this.endConnectionIn(client, presented);
      throw INVALID_GRANT.error(INVALID_REFRESH_TOKEN);
    }
    let { rotatedAt } = found;
    if (!rotatedAt) {
      const scopes = scopesIn(scope, found.scopes);
      const phoneNumber = this.sealer.openOptional(found.phoneNumberSealed, ['agent_connection', found.id]);
      const connection = { ...found, phoneNumber };
      const { response, stored } = this.tokens.issue(client.issuer, connection, { presented, scopes, now });
      const expiresAt = new Date(now.getTime() + CONNECTION_LIFETIME);
      if (await this.batch.rotate({ ...stored, presentedHash, expiresAt })) return response;
      // Another request has used the token meanwhile, or the connection ended.
      rotatedAt = (await this.batch.connections.add(presentedHash))?.rotatedAt ?? null;
    }
    const issued = rotatedAt && (await this.tokens.repeat(client, presented, found.id, rotatedAt));
    if (!issued) throw INVALID_GRANT.error(INVALID_REFRESH_TOKEN);
    return issued;
  }

  /** Ends the connection of a token that was rotated so long ago that it is no longer stored. */
  private async endConnectionIn(client: TokenClient, presented: string): Promise<void> {
    const id = this.tokens.connectionIn(presented);
    const connection = id === undefined ? null : await this.connections.find(id);
    const isOfAgent =
      connection?.clientId === client.issuer.clientId && connection.agentId === client.agentId;
    if (isOfAgent) await this.tokens.endAfterReuse(client, connection.id);
  }
}

function isVerified(verifier: string, challenge: string): boolean {
  const computed = Buffer.from(sha256(verifier).toString('base64url'));
  return VERIFIER.test(verifier) && SecretDigest.equal(computed, Buffer.from(challenge));
}
