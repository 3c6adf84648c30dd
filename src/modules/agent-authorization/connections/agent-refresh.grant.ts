import { Injectable } from '@nestjs/common';
import { Sealer, sha256 } from '../../../infrastructure/crypto/index.js';
import { Clock, SECOND } from '../../../infrastructure/time/index.js';
import { INVALID_GRANT, INVALID_SCOPE, type Grant } from '../../oauth/index.js';
import { scopesIn } from '../agents/agent.js';
import { AgentsService } from '../agents/agents.service.js';
import { AGENT_USER, AgentConnectionsService } from './agent-connections.service.js';
import { AgentTokensService, CONNECTION_LIFETIME, type TokenClient } from './agent-tokens.service.js';
import { AgentTokensBatch } from './agent-tokens.batch.js';
import { RefreshTokensRequest, type AgentTokensResponse } from './tokens.dto.js';

/** Milliseconds for which a repeated request gets the same response: the agent may not have received it. */
const REPEATABLE_FOR = 30 * SECOND;

const INVALID_REFRESH_TOKEN = 'The refresh token is not valid. Start the authorization again.';

/** Exchanges a refresh token for the next tokens (RFC 6749, section 6), and detects copies (OAuth 2.1, section 4.3.1). */
@Injectable()
export class AgentRefreshGrant implements Grant<TokenClient, RefreshTokensRequest, AgentTokensResponse> {
  readonly grantType = 'refresh_token';
  readonly parameters = RefreshTokensRequest;

  constructor(
    private readonly agents: AgentsService,
    private readonly batch: AgentTokensBatch,
    private readonly connectionEnds: AgentConnectionsService,
    private readonly tokens: AgentTokensService,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the next tokens. If the token was used more than 30 seconds ago, somebody else has a copy, so the connection ends.
   *
   * @throws OAuthError `invalid_client`, `invalid_grant` or `invalid_scope`
   */
  async handle(client: TokenClient, request: RefreshTokensRequest): Promise<AgentTokensResponse> {
    const { refresh_token: presented, scope } = request;
    const presentedHash = sha256(presented);
    const now = this.clock.now();
    const found = await this.batch.findConnection(presentedHash);
    const isOfAgent = found?.clientId === client.provider.clientId && found.agentId === client.agentId;
    if (!isOfAgent || found.expiresAt <= now) {
      await this.agents.requireKnown(client.provider, client.agentId);
      throw INVALID_GRANT.error(INVALID_REFRESH_TOKEN);
    }
    const scopes = scope === undefined ? found.scopes : scopesIn(scope);
    if (!scopes?.every((each) => found.scopes.includes(each)))
      throw INVALID_SCOPE.error('The scope field contains a scope that the user has not granted.');
    if (found.rotatedAt) return this.repeat(client, found.id, presented, found.rotatedAt);

    const phoneNumber = this.sealer.openOptional(found.phoneNumberSealed, ['agent_connection', found.id]);
    const { response, stored } = this.tokens.issue(
      client.provider,
      { ...found, phoneNumber },
      { presented, scopes, now },
    );
    const expiresAt = new Date(now.getTime() + CONNECTION_LIFETIME);
    if (await this.batch.rotate({ ...stored, presentedHash, expiresAt })) return response;
    // Another request has used the token meanwhile, or the connection ended.
    const rotatedAt = (await this.batch.findConnection(presentedHash))?.rotatedAt;
    if (!rotatedAt) throw INVALID_GRANT.error(INVALID_REFRESH_TOKEN);
    return this.repeat(client, found.id, presented, rotatedAt);
  }

  /** Returns the tokens that another request got for the same refresh token. */
  private async repeat(
    { provider, origin }: TokenClient,
    connectionId: string,
    presented: string,
    rotatedAt: Date,
  ): Promise<AgentTokensResponse> {
    if (this.clock.milliseconds() - rotatedAt.getTime() > REPEATABLE_FOR) {
      const actor = { ...AGENT_USER, origin };
      await this.connectionEnds.end(provider, connectionId, { action: 'agent.reuse', actor });
      throw INVALID_GRANT.error(INVALID_REFRESH_TOKEN);
    }
    const issued = await this.tokens.issuedBefore(provider, presented, rotatedAt);
    if (!issued) throw INVALID_GRANT.error(INVALID_REFRESH_TOKEN);
    return issued;
  }
}
