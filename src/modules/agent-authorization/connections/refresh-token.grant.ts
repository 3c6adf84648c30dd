import { Injectable } from '@nestjs/common';
import { Sealer, sha256 } from '../../../infrastructure/crypto/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { INVALID_GRANT, scopesIn } from '../../oauth/index.js';
import { AgentsService } from '../agents/agents.service.js';
import { AgentConnectionsService } from './agent-connections.service.js';
import { INVALID_REFRESH_TOKEN, RefreshTokensRequest, type AgentTokensResponse } from './agent-grants.dto.js';
import { AgentTokensBatch } from './agent-tokens.batch.js';
import {
  AgentTokensService,
  CONNECTION_LIFETIME,
  type AgentGrant,
  type TokenClient,
} from './agent-tokens.service.js';

@Injectable()
export class RefreshTokenGrant implements AgentGrant<RefreshTokensRequest> {
  static readonly grantType = 'refresh_token';
  static readonly authentication = 'none';
  readonly parameters = RefreshTokensRequest;

  constructor(
    private readonly agents: AgentsService,
    private readonly batch: AgentTokensBatch,
    private readonly connections: AgentConnectionsService,
    private readonly tokens: AgentTokensService,
    private readonly sealer: Sealer,
    private readonly clock: Clock,
  ) {}

  /**
   * Exchanges a refresh token for the next tokens (RFC 6749, section 6), and detects copies (OAuth 2.1, section 4.3.1). If the token
   * was used before, and its successors since then, two parties have it, so the connection ends.
   *
   * @throws OAuthError `invalid_client` or `invalid_grant`
   */
  async issue(client: TokenClient, request: RefreshTokensRequest): Promise<AgentTokensResponse> {
    const { refresh_token: presented, scope } = request;
    const presentedHash = sha256(presented);
    const now = this.clock.now();
    const found = await this.batch.connections.add(presentedHash);
    const isOfAgent = found?.clientId === client.issuer.clientId && found.agentId === client.agentId;
    if (!isOfAgent || found.expiresAt <= now || found.isRemoved) {
      await this.agents.requireKnown(client.issuer, client.agentId);
      if (!found) await this.endConnectionIn(client, presented);
      throw INVALID_GRANT.error(INVALID_REFRESH_TOKEN);
    }
    await this.agents.requireAllowed(client.issuer, client.agentId, found.agentHost);
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
