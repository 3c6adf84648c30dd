import {
  INVALID_API_KEYS,
  ROLE,
  SCOPE,
  type DashboardRole,
  type Scope,
} from '../../../infrastructure/auth/index.js';
import type { PlatformEnvironment } from '../../../infrastructure/config/index.js';
import {
  BooleanProperty,
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
import { EXAMPLE_CLIENT_ID } from '../authorizations/device-authorizations.dto.js';
import { OAuthConfiguration } from '../oauth.configuration.js';
import { messageAboutGrantType } from '../protocol/grant.js';
import {
  ACCESS_DENIED,
  AUTHORIZATION_PENDING,
  EXPIRED_TOKEN,
  INVALID_CLIENT,
  INVALID_GRANT,
  INVALID_REQUEST,
  INVALID_SCOPE,
  SLOW_DOWN,
  UNAUTHORIZED_CLIENT,
  UNSUPPORTED_GRANT_TYPE,
} from '../protocol/oauth-errors.js';
import { ParameterField, PUBLIC_FORM_PROBLEMS } from '../protocol/oauth-form.js';
import { GRANTS } from './grants.js';
import { AccessTokenResponse, EXAMPLE_ACCESS_TOKEN, ExchangeDeviceCodeRequest } from './grants.dto.js';

const TOKEN_TYPE = enumeration(
  'TokenType',
  ['Bearer', 'mcp'],
  '`Bearer`: an access token of the dashboard API. `mcp`: an MCP token.',
);

const EXAMPLE_USER_ID = '5b0c7a52-43c8-4c0e-9a53-0f2d4f0f6a11';
const EXAMPLE_ORGANIZATION_ID = '0b9ad2b2-6c34-4d5b-9f0a-3e2c1d4b5a60';

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
    'Whom the token acts for: the ID of a dashboard user, or of the API client for a token of an API key, or for an MCP token your own identifier for the user.',
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
  @UuidProperty('ID of the user or the API key.', EXAMPLE_USER_ID)
  id!: string;

  @TextProperty('Name of the user or the API key.', 'Ada Lovelace')
  name!: string;

  @TextProperty('Email address of the user; `API key` for an API key.', 'ada@example.com')
  email!: string;

  @UuidProperty('ID of the user’s organization.', EXAMPLE_ORGANIZATION_ID)
  organization_id!: string;

  @EnumProperty(ROLE, 'The current role of the user.', 'admin')
  role!: DashboardRole;

  @ObjectProperty(
    CurrentTokenResponse,
    'The access token or API key; null if the request was authenticated by a dashboard login.',
    { nullable: true },
  )
  token!: CurrentTokenResponse | null;
}

export const EXCHANGE_DEVICE_CODE: OperationDocument = {
  operationId: 'exchangeDeviceCode',
  place: 3,
  repeatable: 'always',
  ifRepeated:
    'A device code works once. If the response with the token is lost, the next one is `invalid_grant`: [start ' +
    'again](retrying.md#device-codes-work-once). With client credentials, you get another token. The token of a workload works ' +
    'once if it has an ID (`jti`): get another one from its platform.',
  summary: 'Exchange device code for access token',
  description: (configurationOf) =>
    'Exchanges a device code for an access token (RFC 8628). Poll this operation with the `device_code` until the user ' +
    'has decided. On `authorization_pending`, continue. On `slow_down`, continue with the `interval` of the response. ' +
    'On 429 or 503, retry after `Retry-After`; on 500, after the interval. Every other error ends the flow. The token ' +
    'is valid for 15 minutes in the environment of the client that it was issued for. It becomes invalid immediately ' +
    'when it is revoked or its user is removed. Each code can be exchanged once. Limit: ' +
    `${configurationOf(OAuthConfiguration).requestsPerMinute} requests per minute per IP address, and one request per ` +
    '`interval` per code.\n\nThe parameters below are those of the device flow, whose requests have no `Authorization` header. ' +
    'Two other grants have other parameters. Programs with an API key get a token with `grant_type=client_credentials`, an ' +
    'optional `scope`, and the `client_id` and the key as Basic credentials, or as `client_id` and `client_secret` (RFC 6749, ' +
    'sections 2.3.1 and 4.4). The token has the scopes of the key, or those of `scope`, and ends with the key. A workload that an API key trusts sends its own token as the ' +
    '`assertion`, with the `client_id`, an optional `scope`, and `grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer` ' +
    '(RFC 7523).',
  body: ExchangeDeviceCodeRequest,
  response: AccessTokenResponse,
  responseDescription: 'The token.',
  errors: [
    AUTHORIZATION_PENDING,
    SLOW_DOWN,
    ACCESS_DENIED,
    EXPIRED_TOKEN,
    INVALID_GRANT,
    UNAUTHORIZED_CLIENT,
    INVALID_SCOPE,
    {
      kind: UNSUPPORTED_GRANT_TYPE,
      label: UNSUPPORTED_GRANT_TYPE.label,
      messages: [messageAboutGrantType(GRANTS)],
    },
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
  repeatable: 'always',
  ifRepeated: 'The response is the same.',
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
  repeatable: 'always',
  ifRepeated: 'The response is the same.',
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
