import { Controller, Get, Header, Param } from '@nestjs/common';
import { AGENT_SCOPES } from '../../../infrastructure/auth/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { OAuthMetadata } from '../../oauth/index.js';
import { AgentAddresses } from '../agent-addresses.js';
import { AgentSettingsService } from '../settings/agent-settings.service.js';
import {
  GET_AGENT_METADATA,
  GET_PROTECTED_RESOURCE,
  type AgentAuthorizationServerMetadata,
  type ProtectedResourceMetadata,
} from './agent-metadata.dto.js';

/** Short, because an owner may disallow agents at any time. */
const CACHE_CONTROL = 'public, max-age=60';

@Topic('Agents that log in', 'OAuth endpoints of the agent connector, with which your users connect agents.')
@Controller()
export class AgentMetadataController {
  constructor(
    private readonly settings: AgentSettingsService,
    private readonly addresses: AgentAddresses,
  ) {}

  /** RFC 9728, section 3. The resource is as the agent wrote it, perhaps in capitals (section 3.3). */
  @Get('.well-known/oauth-protected-resource/mcp/:client_id')
  @Header('Cache-Control', CACHE_CONTROL)
  @OAuthMetadata(GET_PROTECTED_RESOURCE, { surface: 'connector' })
  async protectedResource(@Param('client_id') id: string): Promise<ProtectedResourceMetadata> {
    return {
      resource: this.addresses.resourceOf(id),
      authorization_servers: [await this.issuerOf(id)],
      scopes_supported: AGENT_SCOPES,
      bearer_methods_supported: ['header'],
      resource_name: 'Merchant Connectivity',
    };
  }

  /**
   * RFC 8414, section 3. The paths of OpenID Connect Discovery have no document: clients refuse one that describes no ID tokens.
   */
  @Get('.well-known/oauth-authorization-server/connections/:client_id')
  @Header('Cache-Control', CACHE_CONTROL)
  @OAuthMetadata(GET_AGENT_METADATA, { surface: 'connector' })
  async authorizationServer(@Param('client_id') id: string): Promise<AgentAuthorizationServerMetadata> {
    return metadataOf(await this.issuerOf(id));
  }

  /** @throws OAuthError if agents cannot log in there */
  private async issuerOf(id: string): Promise<string> {
    return this.addresses.issuerOf((await this.settings.requireIssuer(id)).clientId);
  }
}

/** RFC 8414, section 2. */
function metadataOf(issuer: string): AgentAuthorizationServerMetadata {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    revocation_endpoint: `${issuer}/revoke`,
    registration_endpoint: `${issuer}/register`,
    scopes_supported: AGENT_SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  };
}
