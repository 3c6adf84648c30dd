import {
  INVALID_API_KEYS,
  ROLE,
  SCOPE,
  SCOPES,
  type DashboardRole,
  type Scope,
} from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import {
  BooleanProperty,
  ConstantProperty,
  EnumProperty,
  IntegerProperty,
  ObjectProperty,
  TextProperty,
  UuidProperty,
  withExamples,
  type OperationDocument,
} from '../../../infrastructure/openapi/index.js';
import { enumeration } from '../../../infrastructure/schemas/index.js';
import { ENVIRONMENT, MESSAGES } from '../../../infrastructure/validation/index.js';
import { EXAMPLE_CLIENT_ID, EXAMPLE_DEVICE_CODE } from '../authorizations/device-authorizations.dto.js';
import { OAuthConfiguration } from '../oauth.configuration.js';
import {
  ACCESS_DENIED,
  AUTHORIZATION_PENDING,
  EXPIRED_TOKEN,
  INVALID_CLIENT,
  INVALID_GRANT,
  INVALID_REQUEST,
  SLOW_DOWN,
  UNSUPPORTED_GRANT_TYPE,
} from '../protocol/oauth-errors.js';
import { ParameterField, PUBLIC_FORM_PROBLEMS } from '../protocol/oauth-form.js';

const TOKEN_TYPE = enumeration(
  'TokenType',
  ['Bearer', 'mcp'],
  '`Bearer`: an access token of the dashboard API. `mcp`: an MCP token.',
);

/** Looks like a token but has no valid signature. */
const EXAMPLE_ACCESS_TOKEN =
  'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImV4YW1wbGUifQ.eyJzdWIiOiJleGFtcGxlIn0.c2lnbmF0dXJl';

const EXAMPLE_USER_ID = '5b0c7a52-43c8-4c0e-9a53-0f2d4f0f6a11';
const EXAMPLE_ORGANIZATION_ID = '0b9ad2b2-6c34-4d5b-9f0a-3e2c1d4b5a60';

/** RFC 8628, section 3.4. */
export const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** What every grant has: the grant that reads the other parameters. */
export class TokenRequest {
  @ParameterField('The device code grant.', DEVICE_CODE_GRANT, { const: DEVICE_CODE_GRANT })
  grant_type!: string;
}

/** What every grant of a public client has. */
export class PublicClientTokenRequest extends TokenRequest {
  @ParameterField('The client that the device code was requested for.', EXAMPLE_CLIENT_ID, { format: 'uuid' })
  client_id!: string;
}

export class ExchangeDeviceCodeRequest extends PublicClientTokenRequest {
  @ParameterField('The code from the device-code request.', EXAMPLE_DEVICE_CODE)
  device_code!: string;
}

export class AccessTokenResponse {
  @ConstantProperty('Bearer', 'How to send the token.')
  token_type!: 'Bearer';

  @IntegerProperty('Seconds until the token expires.', 900)
  expires_in!: number;

  @TextProperty(
    'The token, a JWT (RFC 9068). Keep it secret: anyone who has it can act for the user.',
    EXAMPLE_ACCESS_TOKEN,
  )
  access_token!: string;

  @TextProperty('The scopes of the token, separated by spaces.', SCOPES.join(' '))
  scope!: string;
}

export class IntrospectTokenRequest {
  @ParameterField('An access token or MCP token.', EXAMPLE_ACCESS_TOKEN)
  token!: string;

  @ParameterField('A hint about the kind of token. Not required.', 'access_token', { required: false })
  token_type_hint?: string;
}

export class RevokeTokenRequest extends IntrospectTokenRequest {
  @ParameterField('The client that the token was issued to.', EXAMPLE_CLIENT_ID, { format: 'uuid' })
  client_id!: string;
}

/** Empty: the response does not reveal whether the token existed. */
export class RevocationResponse {}

export class IntrospectionResponse {
  @BooleanProperty(
    'Whether the token is valid now and was issued to your client. If not, the response has no other fields.',
    true,
  )
  active!: boolean;

  @EnumProperty(TOKEN_TYPE, 'The kind of token.', 'Bearer', { required: false })
  token_type?: 'Bearer' | 'mcp';

  @TextProperty(
    'Whom the token acts for: the ID of a dashboard user, or for an MCP token your own identifier for the user.',
    EXAMPLE_USER_ID,
    { required: false },
  )
  sub?: string;

  @UuidProperty('The client that the token was issued to.', EXAMPLE_CLIENT_ID, { required: false })
  client_id?: string;

  @IntegerProperty('When the token was issued, in seconds since the epoch.', 1_769_847_330, {
    format: 'int64',
    required: false,
  })
  iat?: number;

  @IntegerProperty('When the token expires, in seconds since the epoch.', 1_769_848_230, {
    format: 'int64',
    required: false,
  })
  exp?: number;

  @EnumProperty(ENVIRONMENT, 'The environment of the client.', 'development', { required: false })
  environment?: PlatformEnvironment;

  @TextProperty(
    'The scopes, separated by spaces: of an access token, or of an MCP token that an agent got by logging in.',
    'request_logs:read webhook_endpoints:read',
    { required: false },
  )
  scope?: string;

  @EnumProperty(ROLE, 'Access tokens only: the current role of the user.', ['admin'], {
    required: false,
    isArray: true,
  })
  roles?: readonly DashboardRole[];

  @UuidProperty('Access tokens only: the ID of the user’s organization.', EXAMPLE_ORGANIZATION_ID, {
    required: false,
  })
  org?: string;

  @TextProperty('Access tokens only: the issuer.', 'https://dashboard.example.com', {
    required: false,
    format: 'uri',
  })
  iss?: string;

  @TextProperty('Access tokens only: the API that the token is for.', 'https://dashboard.example.com', {
    required: false,
    format: 'uri',
  })
  aud?: string;

  @UuidProperty('Access tokens only: the ID of the token.', '7d2f0c4e-9b1a-4f6d-8e3c-5a7b9c1d2e3f', {
    required: false,
  })
  jti?: string;

  @TextProperty('MCP tokens only: the phone number of the user in E.164, if it was given.', '+12125550123', {
    required: false,
  })
  phone_number?: string;
}

export class CurrentTokenResponse {
  @UuidProperty('The client that the token was issued to.', EXAMPLE_CLIENT_ID)
  client_id!: string;

  @EnumProperty(ENVIRONMENT, 'The environment that the token is valid for.', 'development')
  environment!: PlatformEnvironment;

  @EnumProperty(SCOPE, 'The scopes of the token.', ['request_logs:read'], { isArray: true })
  scopes!: Scope[];
}

export class CurrentUserResponse {
  @UuidProperty('ID of the user.', EXAMPLE_USER_ID)
  id!: string;

  @TextProperty('Name of the user.', 'Ada Lovelace')
  name!: string;

  @TextProperty('Email address of the user.', 'ada@example.com')
  email!: string;

  @UuidProperty('ID of the user’s organization.', EXAMPLE_ORGANIZATION_ID)
  organization_id!: string;

  @EnumProperty(ROLE, 'The current role of the user.', 'admin')
  role!: DashboardRole;

  @ObjectProperty(
    CurrentTokenResponse,
    'The access token; null if the request was authenticated by a dashboard login.',
    { nullable: true },
  )
  token!: CurrentTokenResponse | null;
}

export const EXCHANGE_DEVICE_CODE: OperationDocument = {
  operationId: 'exchangeDeviceCode',
  summary: 'Exchange device code for access token',
  description: (configurationOf) =>
    'Exchanges a device code for an access token (RFC 8628). Poll this operation with the `device_code` until the user ' +
    'has decided. On `authorization_pending`, continue. On `slow_down`, continue with the `interval` of the response. ' +
    'On 429 or 503, retry after `Retry-After`; on 500, after the interval. Every other error ends the flow. The token ' +
    'is valid for 15 minutes in the environment of the client that it was issued for. It becomes invalid immediately ' +
    'when it is revoked or its user is removed. Each code can be exchanged once. Limit: ' +
    `${configurationOf(OAuthConfiguration).requestsPerMinute} requests per minute per IP address, and one request per ` +
    '`interval` per code.',
  body: ExchangeDeviceCodeRequest,
  response: AccessTokenResponse,
  responseDescription: 'The token.',
  errors: [
    AUTHORIZATION_PENDING,
    SLOW_DOWN,
    ACCESS_DENIED,
    EXPIRED_TOKEN,
    INVALID_GRANT,
    UNSUPPORTED_GRANT_TYPE,
    withExamples(
      INVALID_REQUEST,
      MESSAGES.required('grant type'),
      MESSAGES.required('device code'),
      ...PUBLIC_FORM_PROBLEMS,
    ),
    INVALID_CLIENT,
  ],
};

export const REVOKE_TOKEN: OperationDocument = {
  operationId: 'revokeToken',
  summary: 'Revoke token',
  description: (configurationOf) =>
    'Revokes an access token or an MCP token of the client immediately (RFC 7009). Use it when an agent or a program is ' +
    'done, or when a token is leaked. The response is the same for a token that does not exist or no longer exists. ' +
    `Limit: ${configurationOf(OAuthConfiguration).requestsPerMinute} requests per minute per IP address.`,
  body: RevokeTokenRequest,
  response: RevocationResponse,
  responseDescription: 'The token was revoked, or was not a valid token of this client.',
  errors: [
    withExamples(INVALID_REQUEST, MESSAGES.required('token'), MESSAGES.required('client id')),
    INVALID_CLIENT,
  ],
};

export const INTROSPECT_TOKEN: OperationDocument = {
  operationId: 'introspectToken',
  summary: 'Introspect token',
  description: (configurationOf) =>
    'Returns the state of a token (RFC 7662). An agent connector uses it to find out whom an MCP token acts for, when it ' +
    'expires, and the phone number of the user if there is one. Requires the Basic credentials of the API client. For a ' +
    'token that was issued to another client, the response is only `active: false`. Limit: ' +
    `${configurationOf(OAuthConfiguration).introspectionsPerMinute} requests per minute per client.`,
  body: IntrospectTokenRequest,
  response: IntrospectionResponse,
  responseDescription: 'The state of the token.',
  responseExample: { phone_number: undefined },
  errors: [withExamples(INVALID_REQUEST, MESSAGES.required('token')), INVALID_API_KEYS],
};

export const GET_CURRENT_USER: OperationDocument = {
  operationId: 'getCurrentUser',
  summary: 'Get current user',
  description:
    'Returns the authenticated user and the scopes of the access token. Use it to check whether a token works.',
  response: CurrentUserResponse,
  responseDescription: 'The authenticated user.',
  errors: [],
};
