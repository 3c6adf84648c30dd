import { INVALID_API_KEYS } from '../../../infrastructure/auth/index.js';
import { withExamples, type OperationDocument } from '../../../infrastructure/openapi/index.js';
import { MESSAGES } from '../../../infrastructure/validation/index.js';
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
import {
  AccessTokenResponse,
  ExchangeDeviceCodeRequest,
  IntrospectionResponse,
  IntrospectTokenRequest,
  RevocationResponse,
  RevokeTokenRequest,
  CurrentUserResponse,
} from './tokens.dto.js';

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
      'A parameter of the form is given more than once.',
      'This endpoint takes no Authorization header.',
      'The request body must be application/x-www-form-urlencoded.',
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
