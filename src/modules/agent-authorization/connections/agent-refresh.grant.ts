import { Injectable } from '@nestjs/common';
import { sha256 } from '../../../infrastructure/crypto/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import { Clock, SECOND } from '../../../infrastructure/time/index.js';
import { INVALID_GRANT, INVALID_SCOPE, type Grant } from '../../oauth/index.js';
import { scopesIn } from '../agent-scopes.js';
import { AgentConnectionsRepository } from './agent-connections.repository.js';
import { AGENT_USER, AgentConnectionsService } from './agent-connections.service.js';
import type { AgentRefreshToken } from './agent-refresh-token.entity.js';
import type { TokenClient } from './agent-token.client.js';
import { AgentTokensService, CONNECTION_LIFETIME } from './agent-tokens.service.js';
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
    private readonly connections: AgentConnectionsRepository,
    private readonly connectionEnds: AgentConnectionsService,
    private readonly tokens: AgentTokensService,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the next tokens. If the token was used more than 30 seconds ago, somebody else has a copy, so the connection ends.
   *
   * @throws OAuthError `invalid_grant` or `invalid_scope`
   */
  async handle(client: TokenClient, request: RefreshTokensRequest): Promise<AgentTokensResponse> {
    const tokenHash = sha256(request.refresh_token);
    const token = await this.connections.findRefreshToken(tokenHash);
    if (!token) throw INVALID_GRANT.error(INVALID_REFRESH_TOKEN);
    const result = await this.exchange(client, token, request);
    if (result === 'unknown') throw INVALID_GRANT.error(INVALID_REFRESH_TOKEN);
    if (result !== 'reused') return result;
    await this.connectionEnds.end(client.provider, token.connectionId, {
      action: 'agent.reuse',
      actor: { ...AGENT_USER, origin: client.origin },
    });
    throw INVALID_GRANT.error(INVALID_REFRESH_TOKEN);
  }

  @Transactional()
  protected async exchange(
    { provider, agentId }: TokenClient,
    { tokenHash, connectionId }: AgentRefreshToken,
    { refresh_token: presented, scope }: RefreshTokensRequest,
  ): Promise<AgentTokensResponse | 'unknown' | 'reused'> {
    const now = this.clock.now();
    const owner = { id: connectionId, clientId: provider.clientId, agentId };
    const connection = await this.connections.touch(
      owner,
      now,
      new Date(now.getTime() + CONNECTION_LIFETIME),
    );
    if (!connection) return 'unknown';
    const scopes = scope === undefined ? connection.scopes : scopesIn(scope);
    if (!scopes?.every((each) => connection.scopes.includes(each)))
      throw INVALID_SCOPE.error('The scope field contains a scope that the user has not granted.');
    if (await this.connections.rotate(tokenHash, now))
      return this.tokens.issue(provider, connection, { presented, scopes, now });
    const { rotatedAt } = (await this.connections.findRefreshToken(tokenHash)) ?? {};
    if (!rotatedAt || now.getTime() - rotatedAt.getTime() > REPEATABLE_FOR) return 'reused';
    return (await this.tokens.issuedBefore(provider, presented, rotatedAt)) ?? 'unknown';
  }
}
