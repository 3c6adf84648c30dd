import { Injectable } from '@nestjs/common';
import { sha256 } from '../../../infrastructure/crypto/index.js';
import type { RequestOrigin } from '../../../infrastructure/http/index.js';
import { validated } from '../../../infrastructure/validation/index.js';
import { McpTokensService } from '../../mcp-tokens/index.js';
import { grantOf, type FormParameters } from '../../oauth/index.js';
import { AgentAddresses } from '../agent-addresses.js';
import { INVALID_TARGET } from '../agents/agent-errors.js';
import type { RegisterAgentRequest, RegisteredAgentResponse } from '../agents/agents.dto.js';
import { AgentsService } from '../agents/agents.service.js';
import { AgentSettingsService } from '../settings/agent-settings.service.js';
import { AgentCodeGrant } from './agent-code.grant.js';
import { AgentConnectionsRepository } from './agent-connections.repository.js';
import { AgentConnectionsService } from './agent-connections.service.js';
import { AgentRefreshGrant } from './agent-refresh.grant.js';
import {
  AgentTokenRequest,
  type AgentTokenRevocationResponse,
  type AgentTokensResponse,
  type RevokeAgentTokenRequest,
} from './tokens.dto.js';

/** Actor of entries about what agents request without their user. */
const AGENT = { name: 'agent', email: 'agent' };

/** The endpoints of an authorization server that agents call directly. */
@Injectable()
export class AgentOAuthService {
  constructor(
    private readonly settings: AgentSettingsService,
    private readonly agents: AgentsService,
    private readonly codes: AgentCodeGrant,
    private readonly refreshTokens: AgentRefreshGrant,
    private readonly connections: AgentConnectionsRepository,
    private readonly connectionEnds: AgentConnectionsService,
    private readonly mcpTokens: McpTokensService,
    private readonly addresses: AgentAddresses,
  ) {}

  /**
   * Checks the grant type, the resource and the parameters of the grant, in this order.
   *
   * @throws ApiError INVALID_FIELD for a missing parameter, or OAuthError
   */
  async exchange(
    clientId: string,
    form: FormParameters,
    origin: RequestOrigin,
  ): Promise<AgentTokensResponse> {
    const provider = await this.settings.requireProvider(clientId);
    const { grant_type: grantType, client_id: agentId, resource } = validated(AgentTokenRequest, form);
    const grant = grantOf([this.codes, this.refreshTokens], grantType);
    if (resource !== undefined && resource !== this.addresses.resourceOf(provider.clientId))
      throw INVALID_TARGET.error();
    return grant.redeem({ provider, agentId, origin }, form);
  }

  /** Responds the same way whether the token was revoked, is unknown, or belongs to another agent (RFC 7009, section 2.2). */
  async revoke(
    clientId: string,
    { token, client_id: agentId }: RevokeAgentTokenRequest,
    origin: RequestOrigin,
  ): Promise<AgentTokenRevocationResponse> {
    const provider = await this.settings.requireProvider(clientId);
    const tokenHash = sha256(token);
    const refresh = await this.connections.findToken(tokenHash);
    const found = refresh ?? (await this.connections.findByAccessToken(tokenHash));
    const connection = found && (await this.connections.findById(found.connectionId));
    if (connection?.clientId !== provider.clientId || connection.agentId !== agentId) return {};
    if (refresh)
      await this.connectionEnds.end(provider, connection.id, {
        action: 'agent.disconnect',
        actor: { ...AGENT, origin },
      });
    else await this.mcpTokens.revoke(provider.clientId, token);
    return {};
  }

  async register(clientId: string, request: RegisterAgentRequest): Promise<RegisteredAgentResponse> {
    return this.agents.register(await this.settings.requireProvider(clientId), request);
  }
}
