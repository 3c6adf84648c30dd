import { ApiSchema } from '@nestjs/swagger';
import { AGENT_SCOPES } from '../../../infrastructure/auth/index.js';
import { DocumentLike, type OperationDocument } from '../../../infrastructure/openapi/index.js';
import { authenticationMethodsOf, grantTypesOf } from '../../oauth/index.js';
import { CLIENT_ID_PARAMETER, EXAMPLE_RESOURCE } from '../agent-issuer.dto.js';
import { NOT_ALLOWED } from '../agents/agents.dto.js';
import { AGENT_GRANTS } from '../connections/agent-grants.js';

const EXAMPLE_ISSUER = EXAMPLE_RESOURCE.replace('/mcp/', '/connections/');

export const resourceMetadataOf = (resource: string, issuer: string) => ({
  resource,
  authorization_servers: [issuer],
  scopes_supported: AGENT_SCOPES,
  bearer_methods_supported: ['header'],
  resource_name: 'Merchant Connectivity',
});

@ApiSchema({
  description:
    'Metadata of a protected resource: [RFC 9728, section 2](https://www.rfc-editor.org/rfc/rfc9728#section-2). The ' +
    '`resource` is the address of the agent connector. Only one issuer issues tokens for it.',
})
export class ProtectedResourceMetadata extends DocumentLike(
  'RFC 9728, section 2',
  resourceMetadataOf(EXAMPLE_RESOURCE, EXAMPLE_ISSUER),
) {}

export const metadataOf = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  revocation_endpoint: `${issuer}/revoke`,
  registration_endpoint: `${issuer}/register`,
  scopes_supported: AGENT_SCOPES,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: grantTypesOf(AGENT_GRANTS),
  token_endpoint_auth_methods_supported: authenticationMethodsOf(AGENT_GRANTS),
  revocation_endpoint_auth_methods_supported: ['none'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
});

@ApiSchema({
  description:
    'Metadata of an authorization server: [RFC 8414, section 2](https://www.rfc-editor.org/rfc/rfc8414#section-2). Each API ' +
    'client has an issuer of its own. Agents are public clients and use PKCE. Redirects contain `iss` ' +
    '([RFC 9207](https://www.rfc-editor.org/rfc/rfc9207)). The `client_id` is the URL of a client ID metadata document. ' +
    'Agents without one register first ([RFC 7591](https://www.rfc-editor.org/rfc/rfc7591)).',
})
export class AgentAuthorizationServerMetadata extends DocumentLike(
  'RFC 8414 and its extensions',
  metadataOf(EXAMPLE_ISSUER),
) {}

export const GET_PROTECTED_RESOURCE: OperationDocument = {
  operationId: 'getProtectedResourceMetadata',
  summary: 'Get protected resource metadata',
  description:
    'Returns where agents log in to use the address of an API client (RFC 9728). The address names this document in its 401 ' +
    'response. Agents read it automatically.',
  pathParameters: CLIENT_ID_PARAMETER,
  response: ProtectedResourceMetadata,
  responseDescription: 'The metadata.',
  errors: [NOT_ALLOWED],
};

export const GET_AGENT_METADATA: OperationDocument = {
  operationId: 'getAgentAuthorizationServerMetadata',
  summary: 'Get authorization server metadata for agents',
  description:
    'Returns the OAuth endpoints with which agents log in for users of an API client (RFC 8414). Agents read it automatically.',
  pathParameters: CLIENT_ID_PARAMETER,
  response: AgentAuthorizationServerMetadata,
  responseDescription: 'The metadata.',
  errors: [NOT_ALLOWED],
};
