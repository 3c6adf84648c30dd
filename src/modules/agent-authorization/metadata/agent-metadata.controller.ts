import { Controller, Get, Header, Param } from '@nestjs/common';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { OAuthMetadata } from '../../oauth/index.js';
import {
  GET_AGENT_METADATA,
  GET_PROTECTED_RESOURCE,
  type AgentAuthorizationServerMetadata,
  type ProtectedResourceMetadata,
} from './agent-metadata.dto.js';
import { AgentMetadataService } from './agent-metadata.service.js';

/** Short, because an owner may disallow agents at any time. */
const CACHE_CONTROL = 'public, max-age=60';

@Topic('Agents that log in', 'OAuth endpoints of the agent connector, with which your users connect agents.')
@Controller()
export class AgentMetadataController {
  constructor(private readonly metadata: AgentMetadataService) {}

  @Get('.well-known/oauth-protected-resource/mcp/:client_id')
  @Header('Cache-Control', CACHE_CONTROL)
  @OAuthMetadata(GET_PROTECTED_RESOURCE, { surface: 'connector' })
  protectedResource(@Param('client_id') clientId: string): Promise<ProtectedResourceMetadata> {
    return this.metadata.protectedResource(clientId);
  }

  /** The paths of OpenID Connect Discovery have no document: clients refuse one that describes no ID tokens. */
  @Get('.well-known/oauth-authorization-server/connections/:client_id')
  @Header('Cache-Control', CACHE_CONTROL)
  @OAuthMetadata(GET_AGENT_METADATA, { surface: 'connector' })
  authorizationServer(@Param('client_id') clientId: string): Promise<AgentAuthorizationServerMetadata> {
    return this.metadata.authorizationServer(clientId);
  }
}
