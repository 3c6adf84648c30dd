import { INTERNAL_ERROR, NOT_FOUND, SERVICE_UNAVAILABLE } from '../../../infrastructure/errors/index.js';
import type { OperationDocument } from '../../../infrastructure/openapi/index.js';
import { AuthorizationServerMetadata, EXAMPLE_JWKS, JsonWebKeySet } from './metadata.dto.js';

export const GET_METADATA: OperationDocument = {
  operationId: 'getAuthorizationServerMetadata',
  summary: 'Get authorization server metadata',
  description:
    'Returns the OAuth endpoints and capabilities of this server (RFC 8414). OAuth libraries read them automatically. ' +
    'MCP clients cannot use these endpoints. They get 404 on a host that serves only the agent connector and, on any host, ' +
    'if the request has the header `MCP-Protocol-Version`.',
  response: AuthorizationServerMetadata,
  responseDescription: 'The metadata.',
  errors: [NOT_FOUND],
};

export const GET_KEYS: OperationDocument = {
  operationId: 'getJsonWebKeySet',
  summary: 'Get JSON Web Key Set',
  description:
    'Returns the keys that verify access tokens (RFC 7517). A new key is published 10 minutes before it is used for ' +
    'signing. Cache the response no longer than its `Cache-Control` header allows.',
  response: JsonWebKeySet,
  responseDescription: 'The keys.',
  responseExample: EXAMPLE_JWKS,
  errors: [INTERNAL_ERROR, SERVICE_UNAVAILABLE],
};
