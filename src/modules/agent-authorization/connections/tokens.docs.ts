import { withMessages, type OperationDocument } from '../../../infrastructure/openapi/index.js';
import { MESSAGES } from '../../../infrastructure/validation/index.js';
import {
  INVALID_CLIENT,
  INVALID_GRANT,
  INVALID_REQUEST,
  INVALID_SCOPE,
  UNSUPPORTED_GRANT_TYPE,
} from '../../oauth/index.js';
import { AgentAuthorizationConfiguration } from '../agent-authorization.configuration.js';
import { NOT_ALLOWED, INVALID_REDIRECT_URI, INVALID_TARGET } from '../agents/agent-errors.js';
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
    '(RFC 6749). A code can be exchanged once, within 60 seconds. A refresh token can be exchanged once; for 30 seconds, a ' +
    'repeated request gets the same response. Using a code again, or a refresh token later, ends the connection of the agent. So do ' +
    '60 days without a request.',
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
    withMessages(INVALID_SCOPE, 'The scope field contains a scope that the user has not granted.'),
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
    'token that does not exist.',
  pathParameters: CLIENT_ID_PARAMETER,
  body: RevokeAgentTokenRequest,
  response: AgentTokenRevocationResponse,
  responseDescription: 'The token was revoked, or was not a valid token of this agent.',
  errors: [
    withMessages(INVALID_REQUEST, MESSAGES.required('token'), MESSAGES.required('client id')),
    NOT_ALLOWED,
  ],
};

export const REGISTER_AGENT: OperationDocument = {
  operationId: 'registerAgent',
  summary: 'Register agent',
  description: (configurationOf) =>
    'Registers an agent that has no client ID metadata document (RFC 7591), as a public client. A registration that no user ' +
    `has used is deleted after a day. Limit: ${configurationOf(AgentAuthorizationConfiguration).registrationsPerHour} requests ` +
    'per hour per IP address.',
  pathParameters: CLIENT_ID_PARAMETER,
  body: RegisterAgentRequest,
  response: RegisteredAgentResponse,
  responseDescription: 'The agent is registered.',
  status: 201,
  errors: [
    INVALID_REDIRECT_URI,
    withMessages(INVALID_REQUEST, MESSAGES.required('redirect uris')),
    NOT_ALLOWED,
  ],
};
