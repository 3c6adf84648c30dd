import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { DASHBOARD_ROLES, type DashboardRole } from '../../../infrastructure/auth/index.js';
import { ENVIRONMENTS, type PlatformEnvironment } from '../../../infrastructure/config/index.js';
import { EXAMPLE_CLIENT_ID, EXAMPLE_DEVICE_CODE } from '../authorizations/device-authorizations.dto.js';

/** Of the right form, signed by nobody. */
export const EXAMPLE_ACCESS_TOKEN =
  'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImV4YW1wbGUifQ.eyJzdWIiOiJleGFtcGxlIn0.c2lnbmF0dXJl';

const EXAMPLE_USER_ID = '5b0c7a52-43c8-4c0e-9a53-0f2d4f0f6a11';
const EXAMPLE_ORGANIZATION_ID = '0b9ad2b2-6c34-4d5b-9f0a-3e2c1d4b5a60';

export class ExchangeDeviceCodeRequest {
  @ApiProperty({
    type: String,
    enum: ['urn:ietf:params:oauth:grant-type:device_code'],
    description: 'Says that a device code is exchanged.',
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
  @ApiProperty({ type: String, enum: ['Bearer'], description: 'How the token is sent.', example: 'Bearer' })
  token_type!: 'Bearer';

  @ApiProperty({ type: 'integer', description: 'Seconds until the token expires.', example: 900 })
  expires_in!: number;

  @ApiProperty({
    type: String,
    description: 'The token, a JWT (RFC 9068). A secret: whoever holds it acts for the user.',
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
    description: 'What the token probably is. Not needed.',
    example: 'access_token',
  })
  token_type_hint?: string;
}

/** Nothing: whether there was such a token is not told. */
export class RevocationResponse {}

export class IntrospectTokenRequest {
  @ApiProperty({ type: String, description: 'An access token or MCP token.', example: EXAMPLE_ACCESS_TOKEN })
  token!: string;

  @ApiPropertyOptional({
    type: String,
    description: 'What the token probably is. Not needed.',
    example: 'access_token',
  })
  token_type_hint?: string;
}

export class IntrospectionResponse {
  @ApiProperty({
    type: Boolean,
    description: 'Whether the token is good now, and yours. If not, nothing else is told.',
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
      'Whom the token acts for: a dashboard user; of an MCP token your own identifier of the user.',
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
    description: 'Of an access token: what it is good for, separated by spaces.',
    example: 'request_logs:read webhook_endpoints:read',
  })
  scope?: string;

  @ApiPropertyOptional({
    enum: DASHBOARD_ROLES,
    isArray: true,
    description: 'Of an access token: the role of the user, as of now.',
    example: ['admin'],
  })
  roles?: readonly DashboardRole[];

  @ApiPropertyOptional({
    type: String,
    format: 'uuid',
    description: 'Of an access token: the organization of the user.',
    example: EXAMPLE_ORGANIZATION_ID,
  })
  org?: string;

  @ApiPropertyOptional({
    type: String,
    format: 'uri',
    description: 'Of an access token: who issued it.',
    example: 'https://dashboard.example.com',
  })
  iss?: string;

  @ApiPropertyOptional({
    type: String,
    format: 'uri',
    description: 'Of an access token: the API that it is for.',
    example: 'https://dashboard.example.com',
  })
  aud?: string;

  @ApiPropertyOptional({
    type: String,
    format: 'uuid',
    description: 'Of an access token: its own name.',
    example: '7d2f0c4e-9b1a-4f6d-8e3c-5a7b9c1d2e3f',
  })
  jti?: string;

  @ApiPropertyOptional({
    type: String,
    description: 'Of an MCP token: the phone number of the user, where it was given, in E.164.',
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
