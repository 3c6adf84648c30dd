import { SCOPE, SCOPES, type Scope } from '../../../infrastructure/auth/index.js';
import { INTERNAL_ERROR, NOT_FOUND, SERVICE_UNAVAILABLE } from '../../../infrastructure/errors/index.js';
import {
  ConstantProperty,
  EnumProperty,
  ObjectProperty,
  TextProperty,
  type OperationDocument,
} from '../../../infrastructure/openapi/index.js';
import { enumeration } from '../../../infrastructure/schemas/index.js';
import { TOKEN_ALGORITHMS } from '../tokens/tokens.entity.js';

const KEY_ALGORITHM = enumeration(
  'KeyAlgorithm',
  TOKEN_ALGORITHMS,
  'Algorithm of a key that verifies access tokens.',
);
const KEY_TYPE = enumeration('KeyType', ['EC', 'RSA'], 'Type of a key that verifies access tokens.');

const EXAMPLE_ISSUER = 'https://dashboard.example.com';

const strings = (description: string, example: readonly string[]): PropertyDecorator =>
  TextProperty(description, example, { isArray: true });

const endpoint = (description: string, path: string): PropertyDecorator =>
  TextProperty(description, `${EXAMPLE_ISSUER}${path}`, { format: 'uri' });

export class AuthorizationServerMetadata {
  @endpoint('Issuer of the tokens: their `iss`, and also their `aud`.', '')
  issuer!: string;

  @endpoint('The device authorization endpoint.', '/oauth/device/code')
  device_authorization_endpoint!: string;

  @endpoint('The token endpoint.', '/oauth/token')
  token_endpoint!: string;

  @endpoint('The revocation endpoint.', '/oauth/revoke')
  revocation_endpoint!: string;

  @endpoint('The introspection endpoint.', '/oauth/introspect')
  introspection_endpoint!: string;

  @endpoint('The keys that verify tokens.', '/.well-known/jwks.json')
  jwks_uri!: string;

  @strings('The only grant: the device flow.', ['urn:ietf:params:oauth:grant-type:device_code'])
  grant_types_supported!: string[];

  @strings('None: there is no authorization endpoint.', [])
  response_types_supported!: string[];

  @EnumProperty(SCOPE, 'Scopes that a token can have.', SCOPES, { isArray: true })
  scopes_supported!: readonly Scope[];

  @strings('`none`: clients of the token endpoint have no credentials.', ['none'])
  token_endpoint_auth_methods_supported!: string[];

  @strings('`none`, as at the token endpoint.', ['none'])
  revocation_endpoint_auth_methods_supported!: string[];

  @strings('The credentials of the API client.', ['client_secret_basic'])
  introspection_endpoint_auth_methods_supported!: string[];
}

const parameter = (description: string): PropertyDecorator =>
  TextProperty(description, undefined, { required: false });

/** A public key (RFC 7517; its parameters: RFC 7518, section 6). */
export class PublicJwk {
  @TextProperty('ID of the key. The header of a token names the key that verifies it.')
  kid!: string;

  @EnumProperty(KEY_ALGORITHM, 'Algorithm of the key.', 'ES256')
  alg!: string;

  @ConstantProperty('sig', 'The key verifies signatures.')
  use!: string;

  @EnumProperty(KEY_TYPE, 'Type of the key.', 'EC')
  kty!: string;

  @parameter('EC keys only: the curve.')
  crv?: string;

  @parameter('EC keys only: the first coordinate.')
  x?: string;

  @parameter('EC keys only: the second coordinate.')
  y?: string;

  @parameter('RSA keys only: the modulus.')
  n?: string;

  @parameter('RSA keys only: the exponent.')
  e?: string;
}

export class JsonWebKeySet {
  @ObjectProperty(
    [PublicJwk],
    'The current signing key, the next one, and previous keys whose last tokens have not expired yet.',
  )
  keys!: PublicJwk[];
}

const EXAMPLE_JWKS = {
  keys: [
    {
      kty: 'EC',
      crv: 'P-256',
      x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
      y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
      kid: '0f6a2c1e-5b7d-4e9f-8a3b-6c1d2e3f4a5b',
      alg: 'ES256',
      use: 'sig',
    },
  ],
};

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
