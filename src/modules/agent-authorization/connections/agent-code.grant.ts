import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { Sealer, SecretDigest, sha256 } from '../../../infrastructure/crypto/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { INVALID_GRANT, type Grant } from '../../oauth/index.js';
import { WebhookPublisher } from '../../webhooks/index.js';
import { RegisteredAgentsRepository } from '../agents/registered-agents.repository.js';
import { hostOf } from '../agents/agent.js';
import type { AgentAuthorization } from '../authorizations/agent-authorization.entity.js';
import { AgentAuthorizationsRepository } from '../authorizations/agent-authorizations.repository.js';
import type { TokenClient } from './agent-token.client.js';
import { AgentConnectionsRepository } from './agent-connections.repository.js';
import { AGENT_USER, AgentConnectionsService } from './agent-connections.service.js';
import { AgentTokensService, CONNECTION_LIFETIME } from './agent-tokens.service.js';
import { RedeemCodeRequest, type AgentTokensResponse } from './tokens.dto.js';

const INVALID_CODE = 'The code is not valid. Start the authorization again.';

/** RFC 7636, section 4.1. */
const VERIFIER = /^[\w.~-]{43,128}$/;

/** Exchanges a code for tokens (RFC 6749, section 4.1.3; RFC 7636, section 4.6), which creates a connection. */
@Injectable()
export class AgentCodeGrant implements Grant<TokenClient, RedeemCodeRequest, AgentTokensResponse> {
  readonly grantType = 'authorization_code';
  readonly parameters = RedeemCodeRequest;

  constructor(
    private readonly authorizations: AgentAuthorizationsRepository,
    private readonly connections: AgentConnectionsRepository,
    private readonly connectionEnds: AgentConnectionsService,
    private readonly registered: RegisteredAgentsRepository,
    private readonly tokens: AgentTokensService,
    private readonly publisher: WebhookPublisher,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /**
   * Checks the code, then redeems it. A second use of a code ends the connection that the first one created (RFC 6749, section
   * 4.1.2).
   *
   * @throws OAuthError `invalid_grant`
   */
  async handle(client: TokenClient, request: RedeemCodeRequest): Promise<AgentTokensResponse> {
    const { provider, agentId } = client;
    const found = await this.authorizations.findByCode(provider.clientId, sha256(request.code));
    if (found?.agentId !== agentId) throw INVALID_GRANT.error(INVALID_CODE);
    if (found.status === 'approved') {
      if (found.redirectUri !== request.redirect_uri)
        throw INVALID_GRANT.error('The redirect uri field must be that of the authorization request.');
      if (!isVerified(request.code_verifier, found.codeChallenge))
        throw INVALID_GRANT.error('The code verifier field does not match the code challenge.');
      const tokens = await this.redeem(client, found, request.code);
      if (tokens) return tokens;
    }
    await this.endConnectionOf(client, found.id);
    throw INVALID_GRANT.error(INVALID_CODE);
  }

  @Transactional()
  protected async redeem(
    { provider, agentId }: TokenClient,
    { id: authorizationId, ...authorization }: AgentAuthorization,
    code: string,
  ): Promise<AgentTokensResponse | undefined> {
    const now = this.clock.now();
    const id = randomUUID();
    if (!(await this.authorizations.redeem(authorizationId, id, now))) return undefined;
    const { externalUserId, phoneNumberSealed, agentName: name, redirectUri, scopes } = authorization;
    const phoneNumber =
      phoneNumberSealed && this.sealer.open(phoneNumberSealed, ['agent_authorization', authorizationId]);
    const connection = {
      id,
      clientId: provider.clientId,
      externalUserId: externalUserId as string,
      phoneNumberSealed:
        phoneNumber === null ? null : this.sealer.seal(phoneNumber, ['agent_connection', id]),
      agentId,
      agentName: name,
      agentHost: hostOf(redirectUri),
      scopes,
      createdAt: now,
      usedAt: now,
      expiresAt: new Date(now.getTime() + CONNECTION_LIFETIME),
      endedAt: null,
    };
    await this.connections.add(connection);
    if (isUUID(agentId)) await this.registered.markUsed(agentId);
    const tokens = await this.tokens.issue(provider, connection, { presented: code, scopes, now });
    await this.publisher.publish(provider, {
      event: 'AGENT_CONNECTED',
      externalUserId: connection.externalUserId,
      data: { connection_id: id, agent: { name, host: connection.agentHost } },
    });
    return tokens;
  }

  private async endConnectionOf({ provider, origin }: TokenClient, authorizationId: string): Promise<void> {
    const { connectionId } = (await this.authorizations.findById(provider.clientId, authorizationId)) ?? {};
    if (!connectionId) return;
    await this.connectionEnds.end(provider, connectionId, {
      action: 'agent.reuse',
      actor: { ...AGENT_USER, origin },
    });
  }
}

function isVerified(verifier: string, challenge: string): boolean {
  const computed = Buffer.from(sha256(verifier).toString('base64url'));
  return VERIFIER.test(verifier) && SecretDigest.equal(computed, Buffer.from(challenge));
}
