import { Controller, Get, Header, Param } from '@nestjs/common';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { OAuthMetadata } from '../../oauth/index.js';
import { AgentAddresses } from '../agent-addresses.js';
import { AgentSettingsService } from '../settings/agent-settings.service.js';
import {
  GET_AGENT_METADATA,
  GET_PROTECTED_RESOURCE,
  metadataOf,
  resourceMetadataOf,
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
    return resourceMetadataOf(this.addresses.resourceOf(id), await this.issuerOf(id));
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
