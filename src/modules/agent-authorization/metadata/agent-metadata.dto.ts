import { AGENT_SCOPES } from '../../../infrastructure/auth/index.js';
import {
  BooleanProperty,
  TextProperty,
  uuidParameter,
  type OperationDocument,
} from '../../../infrastructure/openapi/index.js';
import { NOT_ALLOWED } from '../agents/agents.dto.js';

export const EXAMPLE_RESOURCE = 'https://mcp.example.com/mcp/19b11f7c-4c8e-49bf-853e-3cea2462349f';
const EXAMPLE_ISSUER = EXAMPLE_RESOURCE.replace('/mcp/', '/connections/');

const strings = (description: string, example: readonly string[]): PropertyDecorator =>
  TextProperty(description, example, { isArray: true });

const endpoint = (description: string, path: string): PropertyDecorator =>
  TextProperty(description, `${EXAMPLE_ISSUER}${path}`, { format: 'uri' });

/** RFC 9728, section 2. */
export class ProtectedResourceMetadata {
  @TextProperty('The address of the agent connector.', EXAMPLE_RESOURCE, { format: 'uri' })
  resource!: string;

  @strings('The only issuer of tokens for this address.', [EXAMPLE_ISSUER])
  authorization_servers!: string[];

  @strings('The scopes that tools require.', AGENT_SCOPES)
  scopes_supported!: readonly string[];

  @strings('How tokens are sent.', ['header'])
  bearer_methods_supported!: string[];

  @TextProperty('The name of this service.', 'Merchant Connectivity')
  resource_name!: string;
}

/** RFC 8414, section 2. */
export class AgentAuthorizationServerMetadata {
  @endpoint('The issuer: one for each API client.', '')
  issuer!: string;

  @endpoint('The authorization endpoint.', '/authorize')
  authorization_endpoint!: string;

  @endpoint('The token endpoint.', '/token')
  token_endpoint!: string;

  @endpoint('The revocation endpoint.', '/revoke')
  revocation_endpoint!: string;

  @endpoint('The registration endpoint (RFC 7591), for agents without a metadata document.', '/register')
  registration_endpoint!: string;

  @strings('The scopes of tokens.', AGENT_SCOPES)
  scopes_supported!: readonly string[];

  @strings('Only the authorization code flow.', ['code'])
  response_types_supported!: string[];

  @strings('How responses are returned to the agent.', ['query'])
  response_modes_supported!: string[];

  @strings('The grants.', ['authorization_code', 'refresh_token'])
  grant_types_supported!: string[];

  @strings('`none`: agents are public clients.', ['none'])
  token_endpoint_auth_methods_supported!: string[];

  @strings('`none`, as at the token endpoint.', ['none'])
  revocation_endpoint_auth_methods_supported!: string[];

  @strings('PKCE is required.', ['S256'])
  code_challenge_methods_supported!: string[];

  @BooleanProperty('Whether redirects contain `iss` (RFC 9207).', true)
  authorization_response_iss_parameter_supported!: boolean;

  @BooleanProperty('Whether the URL of a client ID metadata document is accepted as `client_id`.', true)
  client_id_metadata_document_supported!: boolean;
}

export const CLIENT_ID_PARAMETER = {
  client_id: uuidParameter(
    'AgentIssuerIdParameter',
    'The ID of the API client whose users connect agents.',
    '19b11f7c-4c8e-49bf-853e-3cea2462349f',
  ),
};

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
