import { Controller, Get, Header, Param } from '@nestjs/common';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import { AGENT_SCOPES } from '../../../infrastructure/auth/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { OAuthMetadata } from '../../oauth/index.js';
import { AgentAddresses } from '../agent-addresses.js';
import { AGENTS_NOT_ALLOWED } from '../agents/agent-errors.js';
import { AgentSettingsService } from '../settings/agent-settings.service.js';
import { GET_AGENT_METADATA, GET_PROTECTED_RESOURCE } from './agent-metadata.docs.js';
import { AgentAuthorizationServerMetadata, ProtectedResourceMetadata } from './agent-metadata.dto.js';

/** Short, because an owner may disallow agents at any time. */
const CACHE_CONTROL = 'public, max-age=60';
const ISSUER = 'connections/:client_id';

@Topic('Agents that log in', 'OAuth endpoints of the agent connector, with which your users connect agents.')
@Controller()
export class AgentMetadataController {
  constructor(
    private readonly settings: AgentSettingsService,
    private readonly addresses: AgentAddresses,
  ) {}

  @Get('.well-known/oauth-protected-resource/mcp/:client_id')
  @Header('Cache-Control', CACHE_CONTROL)
  @OAuthMetadata(GET_PROTECTED_RESOURCE, { surface: 'connector' })
  async protectedResource(@Param('client_id') id: string): Promise<ProtectedResourceMetadata> {
    const clientId = await this.providerId(id);
    return {
      resource: this.addresses.resourceOf(clientId),
      authorization_servers: [this.addresses.issuerOf(clientId)],
      scopes_supported: AGENT_SCOPES,
      bearer_methods_supported: ['header'],
      resource_name: 'Merchant Connectivity',
    };
  }

  /** Older clients look for the document at the paths of OpenID Connect Discovery. */
  @Get([`.well-known/openid-configuration/${ISSUER}`, `${ISSUER}/.well-known/openid-configuration`])
  @Header('Cache-Control', CACHE_CONTROL)
  @OAuthMetadata(GET_AGENT_METADATA, { surface: 'connector' })
  @ApiExcludeEndpoint()
  openIdConfiguration(@Param('client_id') id: string): Promise<AgentAuthorizationServerMetadata> {
    return this.authorizationServer(id);
  }

  @Get(`.well-known/oauth-authorization-server/${ISSUER}`)
  @Header('Cache-Control', CACHE_CONTROL)
  @OAuthMetadata(GET_AGENT_METADATA, { surface: 'connector' })
  async authorizationServer(@Param('client_id') id: string): Promise<AgentAuthorizationServerMetadata> {
    const issuer = this.addresses.issuerOf(await this.providerId(id));
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

  private async providerId(id: string): Promise<string> {
    const provider = await this.settings.providerOf(id);
    if (!provider) throw AGENTS_NOT_ALLOWED.error();
    return provider.clientId;
  }
}
