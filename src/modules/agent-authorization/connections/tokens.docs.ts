import { withMessages, type OperationDocument } from '../../../infrastructure/openapi/index.js';
import { MESSAGES } from '../../../infrastructure/validation/index.js';
import { INVALID_CLIENT, INVALID_GRANT, INVALID_REQUEST, UNSUPPORTED_GRANT_TYPE } from '../../oauth/index.js';
import { AgentAuthorizationConfiguration } from '../agent-authorization.configuration.js';
import {
  INVALID_CLIENT_METADATA,
  INVALID_REDIRECT_URI,
  INVALID_TARGET,
  NOT_ALLOWED,
} from '../agents/agent-errors.js';
import { RegisterAgentRequest, RegisteredAgentResponse } from '../agents/agents.dto.js';
import { CLIENT_ID_PARAMETER } from '../metadata/agent-metadata.docs.js';
import {
  AgentTokenRevocationResponse,
  AgentTokensResponse,
  ExchangeForAgentTokensRequest,
  RevokeAgentTokenRequest,
} from './tokens.dto.js';

export const EXCHANGE_FOR_AGENT_TOKENS: OperationDocument = {
  operationId: 'exchangeForAgentTokens',
  summary: 'Exchange code or refresh token for tokens',
  description:
    'Exchanges the code of an authorization, or a refresh token, for an access token of one hour and the next refresh token ' +
    '(RFC 6749). A code can be exchanged once, within 60 seconds, and a refresh token once. If the response is lost, repeat the ' +
    'request: the response is the same for an hour, as long as neither of the new tokens was used, and for 30 seconds after that. ' +
    'Exchanging a code or a refresh token again later ends the connection of the agent. So do 60 days without a request. Unknown ' +
    'scopes are ignored; `scope` says which were granted.',
  pathParameters: CLIENT_ID_PARAMETER,
  body: ExchangeForAgentTokensRequest,
  response: AgentTokensResponse,
  responseDescription: 'The tokens.',
  errors: [
    withMessages(
      INVALID_GRANT,
      'The code is not valid. Start the authorization again.',
      'The refresh token is not valid. Start the authorization again.',
    ),
    INVALID_TARGET,
    withMessages(UNSUPPORTED_GRANT_TYPE, 'The grant type must be authorization_code or refresh_token.'),
    withMessages(INVALID_REQUEST, MESSAGES.required('grant type')),
    INVALID_CLIENT,
    NOT_ALLOWED,
  ],
};

export const REVOKE_AGENT_TOKEN: OperationDocument = {
  operationId: 'revokeAgentToken',
  summary: 'Revoke token of an agent',
  description:
    'Revokes an access token immediately, or ends the connection of a refresh token (RFC 7009). The response is the same for a ' +
    'token that does not exist. Works also while agents cannot log in.',
  pathParameters: CLIENT_ID_PARAMETER,
  body: RevokeAgentTokenRequest,
  response: AgentTokenRevocationResponse,
  responseDescription: 'The token was revoked, or was not a valid token of this agent.',
  errors: [withMessages(INVALID_REQUEST, MESSAGES.required('token')), NOT_ALLOWED],
};

export const REGISTER_AGENT: OperationDocument = {
  operationId: 'registerAgent',
  summary: 'Register agent',
  description: (configurationOf) =>
    'Registers an agent that has no client ID metadata document (RFC 7591), as a public client, with the redirect addresses that ' +
    'can be used. A registration that no user has used is deleted after a day. Limit: ' +
    `${configurationOf(AgentAuthorizationConfiguration).registrationsPerHour} requests per hour per API client and IP address.`,
  pathParameters: CLIENT_ID_PARAMETER,
  body: RegisterAgentRequest,
  response: RegisteredAgentResponse,
  responseDescription: 'The agent is registered.',
  status: 201,
  errors: [INVALID_REDIRECT_URI, INVALID_CLIENT_METADATA, NOT_ALLOWED],
};
