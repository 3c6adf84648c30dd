import { uuidParameter, type OperationDocument } from '../../../infrastructure/openapi/index.js';
import { NOT_ALLOWED } from '../agents/agent-errors.js';
import { AgentAuthorizationServerMetadata, ProtectedResourceMetadata } from './agent-metadata.dto.js';

export const CLIENT_ID_PARAMETER = {
  client_id: uuidParameter(
    'AgentProviderIdParameter',
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
