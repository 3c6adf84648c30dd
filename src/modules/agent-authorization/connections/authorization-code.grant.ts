import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { Sealer, SecretDigest, sha256 } from '../../../infrastructure/crypto/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { INVALID_GRANT } from '../../oauth/index.js';
import { hostOrSchemeOf } from '../agents/agent.js';
import { AgentsService } from '../agents/agents.service.js';
import { IdentificationsService } from '../authorizations/identifications.service.js';
import { AgentConnectionsService } from './agent-connections.service.js';
import { INVALID_CODE, RedeemCodeRequest, type AgentTokensResponse } from './agent-grants.dto.js';
import { AgentTokensBatch, type CodeAuthorization } from './agent-tokens.batch.js';
import {
  AgentTokensService,
  CONNECTION_LIFETIME,
  type AgentGrant,
  type TokenClient,
} from './agent-tokens.service.js';

/** RFC 7636, section 4.1. */
const VERIFIER = /^[\w.~-]{43,128}$/;

@Injectable()
export class AuthorizationCodeGrant implements AgentGrant<RedeemCodeRequest> {
  static readonly grantType = 'authorization_code';
  static readonly authentication = 'none';
  readonly parameters = RedeemCodeRequest;

  constructor(
    private readonly identifications: IdentificationsService,
    private readonly agents: AgentsService,
    private readonly batch: AgentTokensBatch,
    private readonly connections: AgentConnectionsService,
    private readonly tokens: AgentTokensService,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /**
   * Exchanges a code (RFC 6749, section 4.1.3; RFC 7636, section 4.6), which creates a connection. A repeated
   * request gets the same response for an hour, and for 30 seconds after somebody used the tokens. A later one ends the
   * connection (RFC 6749, section 4.1.2), but only with the verifier: without it, the request is not that of the agent.
   *
   * @throws OAuthError `invalid_client` or `invalid_grant`
   */
  async issue(client: TokenClient, request: RedeemCodeRequest): Promise<AgentTokensResponse> {
    const { issuer, agentId } = client;
    const found = await this.batch.authorizations.add(sha256(request.code));
    const isOfAgent = found?.clientId === issuer.clientId && found.agentId === agentId;
    if (isOfAgent) {
      // Not required (OAuth 2.1), but checked if the agent sends it.
      if ((request.redirect_uri ?? found.redirectUri) !== found.redirectUri)
        throw INVALID_GRANT.error('The redirect uri field must be that of the authorization request.');
      if (!isVerified(request.code_verifier, found.codeChallenge))
        throw INVALID_GRANT.error('The code verifier field does not match the code challenge.');
      await this.agents.requireAllowed(issuer, agentId, hostOrSchemeOf(found.redirectUri));
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
    const authorization = await this.identifications.find(client.issuer, authorizationId);
    const connection =
      authorization?.connectionId && (await this.connections.find(authorization.connectionId));
    if (!connection || connection.expiresAt <= this.clock.now()) return undefined;
    return this.tokens.repeat(client, code, connection.id, connection.createdAt);
  }
}

function isVerified(verifier: string, challenge: string): boolean {
  const computed = Buffer.from(sha256(verifier).toString('base64url'));
  return VERIFIER.test(verifier) && SecretDigest.equal(computed, Buffer.from(challenge));
}
