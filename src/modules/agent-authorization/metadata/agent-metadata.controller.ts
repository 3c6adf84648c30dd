import { Controller, Get, Param, Req } from '@nestjs/common';
import type { Request } from 'express';
import { AcceptSlashAtEnd, slashAtEndOf } from '../../../infrastructure/http/index.js';
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

/** Seconds; short, because an owner may disallow agents at any time. */
const MAX_AGE = 60;

@Topic(
  'Agents that log in',
  'OAuth endpoints of the agent connector, with which your users connect agents.',
  70,
)
@Controller()
export class AgentMetadataController {
  constructor(
    private readonly settings: AgentSettingsService,
    private readonly addresses: AgentAddresses,
  ) {}

  /** RFC 9728, section 3. The resource is as the agent wrote it, perhaps in capitals or with a slash (section 3.3). */
  @Get('.well-known/oauth-protected-resource/mcp/:client_id')
  @AcceptSlashAtEnd()
  @OAuthMetadata(GET_PROTECTED_RESOURCE, { surface: 'connector', maxAge: MAX_AGE })
  async protectedResource(
    @Param('client_id') id: string,
    @Req() request: Request,
  ): Promise<ProtectedResourceMetadata> {
    return resourceMetadataOf(this.addresses.resourceOf(id) + slashAtEndOf(request), await this.issuerOf(id));
  }

  /**
   * RFC 8414, section 3. The paths of OpenID Connect Discovery have no document: clients refuse one that describes no ID tokens.
   */
  @Get('.well-known/oauth-authorization-server/connections/:client_id')
  @OAuthMetadata(GET_AGENT_METADATA, { surface: 'connector', maxAge: MAX_AGE })
  async authorizationServer(@Param('client_id') id: string): Promise<AgentAuthorizationServerMetadata> {
    return metadataOf(await this.issuerOf(id));
  }

  /** @throws OAuthError if agents cannot log in there */
  private async issuerOf(id: string): Promise<string> {
    return this.addresses.issuerOf((await this.settings.requireIssuer(id)).clientId);
  }
}
