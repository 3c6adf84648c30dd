import { Injectable } from '@nestjs/common';
import { AGENT_SCOPES } from '../../../infrastructure/auth/index.js';
import { AgentAddresses } from '../agent-addresses.js';
import { AgentSettingsService } from '../settings/agent-settings.service.js';
import type { AgentAuthorizationServerMetadata, ProtectedResourceMetadata } from './agent-metadata.dto.js';

/** Describes the address and the authorization server of an API client. */
@Injectable()
export class AgentMetadataService {
  constructor(
    private readonly settings: AgentSettingsService,
    private readonly addresses: AgentAddresses,
  ) {}

  /** RFC 9728, section 3. @throws OAuthError if agents cannot log in there */
  async protectedResource(id: string): Promise<ProtectedResourceMetadata> {
    const { clientId } = await this.settings.requireProvider(id);
    return {
      // As the agent wrote it, perhaps in capitals (RFC 9728, section 3.3).
      resource: this.addresses.resourceOf(id),
      authorization_servers: [this.addresses.issuerOf(clientId)],
      scopes_supported: AGENT_SCOPES,
      bearer_methods_supported: ['header'],
      resource_name: 'Merchant Connectivity',
    };
  }

  /** RFC 8414, section 3. @throws OAuthError if agents cannot log in there */
  async authorizationServer(id: string): Promise<AgentAuthorizationServerMetadata> {
    const { clientId } = await this.settings.requireProvider(id);
    const issuer = this.addresses.issuerOf(clientId);
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
}
