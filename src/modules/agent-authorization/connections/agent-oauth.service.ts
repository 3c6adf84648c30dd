import { Injectable } from '@nestjs/common';
import { sha256 } from '../../../infrastructure/crypto/index.js';
import { ApiError } from '../../../infrastructure/errors/index.js';
import type { RequestOrigin } from '../../../infrastructure/http/index.js';
import { validated } from '../../../infrastructure/validation/index.js';
import { McpTokensService } from '../../mcp-tokens/index.js';
import { ApiClientDirectory } from '../../api-clients/index.js';
import { grantOf, type FormParameters } from '../../oauth/index.js';
import { AgentAddresses } from '../agent-addresses.js';
import {
  AGENTS_NOT_ALLOWED,
  INVALID_CLIENT_METADATA,
  INVALID_TARGET,
  RegisterAgentRequest,
  type RegisteredAgentResponse,
} from '../agents/agents.dto.js';
import { AgentsService } from '../agents/agents.service.js';
import { AgentSettingsService } from '../settings/agent-settings.service.js';
import { AgentConnectionsService } from './agent-connections.service.js';
import { AgentGrants } from './agent-grants.js';
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
    private readonly clients: ApiClientDirectory,
    private readonly agents: AgentsService,
    private readonly grants: AgentGrants,
    private readonly connections: AgentConnectionsService,
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
    const issuer = await this.settings.requireIssuer(clientId);
    const { grant_type: grantType, client_id: agentId, resource = [] } = validated(AgentTokenRequest, form);
    const grant = grantOf(this.grants.all, grantType);
    if (!resource.every((each) => this.addresses.isResourceOf(issuer.clientId, each)))
      throw INVALID_TARGET.error();
    return grant.handle({ issuer, agentId, origin }, validated(grant.parameters, form));
  }

  /** Responds the same way whether the token was revoked, is unknown, or belongs to another agent (RFC 7009, section 2.2). */
  async revoke(
    clientId: string,
    { token, client_id: agentId }: RevokeAgentTokenRequest,
    origin: RequestOrigin,
  ): Promise<AgentTokenRevocationResponse> {
    // Also if agents cannot log in any more.
    const issuer = AGENTS_NOT_ALLOWED.unlessFound(await this.clients.find(clientId));
    const refresh = await this.connections.findToken(sha256(token));
    const connectionId = refresh?.connectionId ?? (await this.mcpTokens.connectionOf(token));
    const connection = connectionId === undefined ? null : await this.connections.find(connectionId);
    if (connection?.clientId !== issuer.clientId || connection.agentId !== (agentId ?? connection.agentId))
      return {};
    if (refresh)
      await this.connections.end(issuer, connection.id, {
        action: 'agent.disconnect',
        actor: { ...AGENT, origin },
      });
    else await this.mcpTokens.revoke(issuer.clientId, token);
    return {};
  }

  /** @throws OAuthError `invalid_client_metadata` or `invalid_redirect_uri` */
  async register(clientId: string, metadata: object): Promise<RegisteredAgentResponse> {
    const issuer = await this.settings.requireIssuer(clientId);
    return this.agents.register(issuer, registrationIn(metadata));
  }
}

/** Validates the metadata, whose errors have a code of their own (RFC 7591, section 3.2.2). */
function registrationIn(metadata: object): RegisterAgentRequest {
  try {
    return validated(RegisterAgentRequest, metadata);
  } catch (error) {
    throw error instanceof ApiError ? INVALID_CLIENT_METADATA.error(error.message) : error;
  }
}
