import { ApiSchema } from '@nestjs/swagger';
import { SCOPE, SCOPES, type Scope } from '../../../infrastructure/auth/index.js';
import { INTERNAL_ERROR, NOT_FOUND, SERVICE_UNAVAILABLE } from '../../../infrastructure/errors/index.js';
import {
  ConstantProperty,
  DocumentLike,
  EnumProperty,
  ObjectProperty,
  type OperationDocument,
} from '../../../infrastructure/openapi/index.js';
import { enumeration } from '../../../infrastructure/schemas/index.js';
import { authenticationMethodsOf, grantTypesOf } from '../protocol/grant.js';
import { GRANTS } from '../tokens/grants.js';
import { TOKEN_ALGORITHMS } from '../access-token.js';

const KEY_ALGORITHM = enumeration(
  'KeyAlgorithm',
  TOKEN_ALGORITHMS,
  'Algorithm of a key that verifies access tokens.',
);
const KEY_TYPE = enumeration('KeyType', ['EC', 'RSA'], 'Type of a key that verifies access tokens.');

/** RFC 8414, section 2. */
export const metadataOf = (issuer: string) => ({
  issuer,
  device_authorization_endpoint: `${issuer}/oauth/device/code`,
  token_endpoint: `${issuer}/oauth/token`,
  revocation_endpoint: `${issuer}/oauth/revoke`,
  introspection_endpoint: `${issuer}/oauth/introspect`,
  jwks_uri: `${issuer}/.well-known/jwks.json`,
  grant_types_supported: grantTypesOf(GRANTS),
  response_types_supported: [] as string[],
  scopes_supported: SCOPES as readonly Scope[],
  token_endpoint_auth_methods_supported: authenticationMethodsOf(GRANTS),
  revocation_endpoint_auth_methods_supported: ['none'],
  introspection_endpoint_auth_methods_supported: ['client_secret_basic'],
});

@ApiSchema({
  description:
    'Metadata of an authorization server: [RFC 8414, section 2](https://www.rfc-editor.org/rfc/rfc8414#section-2). The ' +
    '`issuer` is the `iss` of tokens, and also their `aud`. The grants are the device flow, and client credentials for ' +
    'API keys, and tokens of workloads that a key trusts. Introspection requires the credentials of the API client.',
})
export class AuthorizationServerMetadata extends DocumentLike(
  'RFC 8414 and its extensions',
  metadataOf('https://dashboard.example.com'),
) {
  @EnumProperty(SCOPE, 'Scopes that a token can have.', SCOPES, { isArray: true })
  override scopes_supported!: readonly Scope[];
}

const EXAMPLE_KEY = {
  kty: 'EC',
  crv: 'P-256',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
  kid: '0f6a2c1e-5b7d-4e9f-8a3b-6c1d2e3f4a5b',
  alg: 'ES256',
  use: 'sig',
};
const { kid, crv, x, y } = EXAMPLE_KEY;

@ApiSchema({
  description:
    'A public key: [RFC 7517, section 4](https://www.rfc-editor.org/rfc/rfc7517#section-4). EC keys have `crv`, `x` and `y`, ' +
    'RSA keys `n` and `e` ([RFC 7518, section 6](https://www.rfc-editor.org/rfc/rfc7518#section-6)). The header of a token ' +
    'has the `kid` of the key that verifies it.',
})
export class PublicJwk extends DocumentLike(
  'RFC 7517 and RFC 7518',
  { kid },
  { crv, x, y, n: 'sXchDaQebHnPiGvyDOAT4saGEUet', e: 'AQAB' },
) {
  @EnumProperty(KEY_ALGORITHM, 'Algorithm of the key.', 'ES256')
  alg!: string;

  @ConstantProperty('sig', 'The key verifies signatures.')
  use!: string;

  @EnumProperty(KEY_TYPE, 'Type of the key.', 'EC')
  kty!: string;
}

@ApiSchema({
  description: 'A JSON Web Key Set: [RFC 7517, section 5](https://www.rfc-editor.org/rfc/rfc7517#section-5).',
})
export class JsonWebKeySet {
  @ObjectProperty(
    [PublicJwk],
    'The current signing key, the next one, and previous keys whose last tokens have not expired yet.',
  )
  keys!: PublicJwk[];
}

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
  responseExample: { keys: [EXAMPLE_KEY] },
  errors: [INTERNAL_ERROR, SERVICE_UNAVAILABLE],
};
