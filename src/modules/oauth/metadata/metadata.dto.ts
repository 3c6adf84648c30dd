import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { SCOPES, type Scope } from '../../../infrastructure/auth/index.js';
import { TOKEN_ALGORITHMS } from '../tokens/token-signing-key.entity.js';

const EXAMPLE_ISSUER = 'https://dashboard.example.com';

const strings = (description: string, example: readonly string[]): PropertyDecorator =>
  ApiProperty({ type: String, isArray: true, description, example });

const endpoint = (description: string, path: string): PropertyDecorator =>
  ApiProperty({ type: String, format: 'uri', description, example: `${EXAMPLE_ISSUER}${path}` });

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

  @ApiProperty({ enum: SCOPES, isArray: true, description: 'Scopes that a token can have.', example: SCOPES })
  scopes_supported!: readonly Scope[];

  @strings('`none`: clients of the token endpoint have no credentials.', ['none'])
  token_endpoint_auth_methods_supported!: string[];

  @strings('`none`, as at the token endpoint.', ['none'])
  revocation_endpoint_auth_methods_supported!: string[];

  @strings('The credentials of the API client.', ['client_secret_basic'])
  introspection_endpoint_auth_methods_supported!: string[];
}

export const EXAMPLE_METADATA: AuthorizationServerMetadata = {
  issuer: EXAMPLE_ISSUER,
  device_authorization_endpoint: `${EXAMPLE_ISSUER}/oauth/device/code`,
  token_endpoint: `${EXAMPLE_ISSUER}/oauth/token`,
  revocation_endpoint: `${EXAMPLE_ISSUER}/oauth/revoke`,
  introspection_endpoint: `${EXAMPLE_ISSUER}/oauth/introspect`,
  jwks_uri: `${EXAMPLE_ISSUER}/.well-known/jwks.json`,
  grant_types_supported: ['urn:ietf:params:oauth:grant-type:device_code'],
  response_types_supported: [],
  scopes_supported: SCOPES,
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  introspection_endpoint_auth_methods_supported: ['client_secret_basic'],
};

const parameter = (description: string): PropertyDecorator =>
  ApiPropertyOptional({ type: String, description });

/** A public key (RFC 7517; its parameters: RFC 7518, section 6). */
export class PublicJwk {
  @ApiProperty({
    type: String,
    description: 'ID of the key. The header of a token names the key that verifies it.',
  })
  kid!: string;

  @ApiProperty({ enum: TOKEN_ALGORITHMS, description: 'Algorithm of the key.', example: 'ES256' })
  alg!: string;

  @ApiProperty({ type: String, enum: ['sig'], description: 'The key verifies signatures.', example: 'sig' })
  use!: string;

  @ApiProperty({ type: String, enum: ['EC', 'RSA'], description: 'Type of the key.', example: 'EC' })
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
  @ApiProperty({
    type: [PublicJwk],
    description:
      'The current signing key, the next one, and previous keys whose last tokens have not expired yet.',
  })
  keys!: PublicJwk[];
}

export const EXAMPLE_JWKS = {
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
