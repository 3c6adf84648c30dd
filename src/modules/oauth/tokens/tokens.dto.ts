import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { DASHBOARD_ROLES, type DashboardRole } from '../../../infrastructure/auth/index.js';
import { ENVIRONMENTS, type PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { EXAMPLE_CLIENT_ID, EXAMPLE_DEVICE_CODE } from '../authorizations/device-authorizations.dto.js';

/** Has the form of a token, without a valid signature. */
export const EXAMPLE_ACCESS_TOKEN =
  'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImV4YW1wbGUifQ.eyJzdWIiOiJleGFtcGxlIn0.c2lnbmF0dXJl';

const EXAMPLE_USER_ID = '5b0c7a52-43c8-4c0e-9a53-0f2d4f0f6a11';
const EXAMPLE_ORGANIZATION_ID = '0b9ad2b2-6c34-4d5b-9f0a-3e2c1d4b5a60';

export class ExchangeDeviceCodeRequest {
  @ApiProperty({
    type: String,
    enum: ['urn:ietf:params:oauth:grant-type:device_code'],
    description: 'The device code grant.',
    example: 'urn:ietf:params:oauth:grant-type:device_code',
  })
  grant_type!: string;

  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'The client that the device code was requested for.',
    example: EXAMPLE_CLIENT_ID,
  })
  client_id!: string;

  @ApiProperty({
    type: String,
    description: 'The code from the device-code request.',
    example: EXAMPLE_DEVICE_CODE,
  })
  device_code!: string;
}

export class AccessTokenResponse {
  @ApiProperty({ type: String, enum: ['Bearer'], description: 'How to send the token.', example: 'Bearer' })
  token_type!: 'Bearer';

  @ApiProperty({ type: 'integer', description: 'Seconds until the token expires.', example: 900 })
  expires_in!: number;

  @ApiProperty({
    type: String,
    description: 'The token, a JWT (RFC 9068). Keep it secret: whoever has it can act for the user.',
    example: EXAMPLE_ACCESS_TOKEN,
  })
  access_token!: string;
}

export class RevokeTokenRequest {
  @ApiProperty({ type: String, description: 'An access token or MCP token.', example: EXAMPLE_ACCESS_TOKEN })
  token!: string;

  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'The client that the token was issued to.',
    example: EXAMPLE_CLIENT_ID,
  })
  client_id!: string;

  @ApiPropertyOptional({
    type: String,
    description: 'A hint about the kind of token. Not required.',
    example: 'access_token',
  })
  token_type_hint?: string;
}

/** Empty: the response does not reveal whether the token existed. */
export class RevocationResponse {}

export class IntrospectTokenRequest {
  @ApiProperty({ type: String, description: 'An access token or MCP token.', example: EXAMPLE_ACCESS_TOKEN })
  token!: string;

  @ApiPropertyOptional({
    type: String,
    description: 'A hint about the kind of token. Not required.',
    example: 'access_token',
  })
  token_type_hint?: string;
}

export class IntrospectionResponse {
  @ApiProperty({
    type: Boolean,
    description:
      'Whether the token is valid now and was issued to your client. If not, the response has no other fields.',
    example: true,
  })
  active!: boolean;

  @ApiPropertyOptional({
    type: String,
    enum: ['Bearer', 'mcp'],
    description: '`Bearer`: an access token of the dashboard API. `mcp`: an MCP token.',
    example: 'Bearer',
  })
  token_type?: 'Bearer' | 'mcp';

  @ApiPropertyOptional({
    type: String,
    description:
      'Whom the token acts for: the ID of a dashboard user, or for an MCP token your own identifier for the user.',
    example: EXAMPLE_USER_ID,
  })
  sub?: string;

  @ApiPropertyOptional({
    type: String,
    format: 'uuid',
    description: 'The client that the token was issued to.',
    example: EXAMPLE_CLIENT_ID,
  })
  client_id?: string;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'When the token was issued, in seconds since the epoch.',
    example: 1_769_847_330,
  })
  iat?: number;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'When the token expires, in seconds since the epoch.',
    example: 1_769_848_230,
  })
  exp?: number;

  @ApiPropertyOptional({
    enum: ENVIRONMENTS,
    description: 'The environment of the client.',
    example: 'development',
  })
  environment?: PlatformEnvironment;

  @ApiPropertyOptional({
    type: String,
    description: 'Access tokens only: the scopes, separated by spaces.',
    example: 'request_logs:read webhook_endpoints:read',
  })
  scope?: string;

  @ApiPropertyOptional({
    enum: DASHBOARD_ROLES,
    isArray: true,
    description: 'Access tokens only: the current role of the user.',
    example: ['admin'],
  })
  roles?: readonly DashboardRole[];

  @ApiPropertyOptional({
    type: String,
    format: 'uuid',
    description: 'Access tokens only: the ID of the user’s organization.',
    example: EXAMPLE_ORGANIZATION_ID,
  })
  org?: string;

  @ApiPropertyOptional({
    type: String,
    format: 'uri',
    description: 'Access tokens only: the issuer.',
    example: 'https://dashboard.example.com',
  })
  iss?: string;

  @ApiPropertyOptional({
    type: String,
    format: 'uri',
    description: 'Access tokens only: the API that the token is for.',
    example: 'https://dashboard.example.com',
  })
  aud?: string;

  @ApiPropertyOptional({
    type: String,
    format: 'uuid',
    description: 'Access tokens only: the ID of the token.',
    example: '7d2f0c4e-9b1a-4f6d-8e3c-5a7b9c1d2e3f',
  })
  jti?: string;

  @ApiPropertyOptional({
    type: String,
    description: 'MCP tokens only: the phone number of the user in E.164, if it was given.',
    example: '+12125550123',
  })
  phone_number?: string;
}

export const EXAMPLE_INTROSPECTION = {
  active: true,
  token_type: 'Bearer',
  sub: EXAMPLE_USER_ID,
  client_id: EXAMPLE_CLIENT_ID,
  iat: 1_769_847_330,
  exp: 1_769_848_230,
  environment: 'development',
  scope: 'request_logs:read webhook_endpoints:read',
  roles: ['admin'],
  org: EXAMPLE_ORGANIZATION_ID,
  iss: 'https://dashboard.example.com',
  aud: 'https://dashboard.example.com',
  jti: '7d2f0c4e-9b1a-4f6d-8e3c-5a7b9c1d2e3f',
};
