import { Injectable } from '@nestjs/common';
import { sha256 } from '../../../infrastructure/crypto/index.js';
import { ApiError } from '../../../infrastructure/errors/index.js';
import type { RequestOrigin } from '../../../infrastructure/http/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { validated } from '../../../infrastructure/validation/index.js';
import { McpTokensService } from '../../mcp-tokens/index.js';
import { ApiClientDirectory } from '../../api-clients/index.js';
import { grantTypesOf, TokenEndpoint, type FormParameters } from '../../oauth/index.js';
import { AgentAddresses } from '../agent-addresses.js';
import {
  AGENTS_NOT_ALLOWED,
  INVALID_CLIENT_METADATA,
  INVALID_TARGET,
  RegisterAgentRequest,
} from '../agents/agents.dto.js';
import { AgentsService } from '../agents/agents.service.js';
import { AgentSettingsService } from '../settings/agent-settings.service.js';
import { AgentConnectionsService } from './agent-connections.service.js';
import { AGENT_GRANTS } from './agent-grants.js';
import { AgentTokenRequest, type AgentTokensResponse } from './agent-grants.dto.js';
import { AgentTokensService } from './agent-tokens.service.js';
import type {
  AgentTokenRevocationResponse,
  RegisteredAgentResponse,
  RevokeAgentTokenRequest,
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
    private readonly endpoint: TokenEndpoint,
    private readonly connections: AgentConnectionsService,
    private readonly tokens: AgentTokensService,
    private readonly mcpTokens: McpTokensService,
    private readonly addresses: AgentAddresses,
  ) {}

  /**
   * Checks the parameters that all grants have, the resource, and then what the grant checks.
   *
   * @throws ApiError INVALID_FIELD for a missing parameter, or OAuthError
   */
  async exchange(
    clientId: string,
    form: FormParameters,
    origin: RequestOrigin,
  ): Promise<AgentTokensResponse> {
    const issuer = await this.settings.requireIssuer(clientId);
    const { client_id: agentId, resource = [] } = validated(AgentTokenRequest, form);
    if (!resource.every((each) => this.addresses.isResourceOf(issuer.clientId, each)))
      throw INVALID_TARGET.error();
    return this.endpoint.exchange(AGENT_GRANTS, form, { issuer, agentId, origin });
  }

  /** Responds the same way whether the token was revoked, is unknown, or belongs to another agent (RFC 7009, section 2.2). */
  async revoke(
    clientId: string,
    { token, client_id: agentId }: RevokeAgentTokenRequest,
    origin: RequestOrigin,
  ): Promise<AgentTokenRevocationResponse> {
    // This works even if agents can no longer log in.
    const issuer = AGENTS_NOT_ALLOWED.requireFound(await this.clients.find(clientId));
    // A token that was exchanged for the next one, and is no longer stored, still proves its connection.
    const refreshed =
      (await this.connections.findToken(sha256(token)))?.connectionId ?? this.tokens.connectionIn(token);
    const connectionId = refreshed ?? (await this.mcpTokens.connectionOf(token));
    const connection = connectionId === undefined ? null : await this.connections.find(connectionId);
    if (connection?.clientId !== issuer.clientId || connection.agentId !== (agentId ?? connection.agentId))
      return {};
    if (refreshed !== undefined)
      await this.connections.end(issuer, connection.id, {
        action: 'agent.disconnect',
        actor: { ...AGENT, origin },
      });
    else await this.mcpTokens.revoke(issuer.clientId, token);
    return {};
  }

  /**
   * Registers an agent. Other values than those of the response are replaced (RFC 7591, section 3.2.1).
   *
   * @throws OAuthError `invalid_client_metadata` or `invalid_redirect_uri`
   */
  async register(clientId: string, metadata: object): Promise<RegisteredAgentResponse> {
    const issuer = await this.settings.requireIssuer(clientId);
    const { agent, leftOut } = await this.agents.register(issuer, registrationIn(metadata));
    return {
      client_id: agent.id,
      client_id_issued_at: Math.floor(agent.createdAt.getTime() / SECOND),
      client_name: agent.name,
      redirect_uris: agent.redirectUris,
      ...(leftOut.length > 0 && { redirect_uris_left_out: leftOut }),
      grant_types: grantTypesOf(AGENT_GRANTS),
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
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
