import { ApiSchema } from '@nestjs/swagger';
import {
  ConstantProperty,
  DocumentLike,
  TextProperty,
  UuidProperty,
  withMessages,
  type OperationDocument,
} from '../../../infrastructure/openapi/index.js';
import { MESSAGES } from '../../../infrastructure/validation/index.js';
import {
  grantTypesOf,
  INVALID_CLIENT,
  INVALID_GRANT,
  INVALID_REQUEST,
  messageAboutGrantType,
  ParameterField,
  UNSUPPORTED_GRANT_TYPE,
} from '../../oauth/index.js';
import { AgentAuthorizationConfiguration } from '../agent-authorization.configuration.js';
import { CLIENT_ID_PARAMETER } from '../agent-issuer.dto.js';
import {
  EXAMPLE_REDIRECT_URIS,
  INVALID_CLIENT_METADATA,
  INVALID_REDIRECT_URI,
  INVALID_TARGET,
  NOT_ALLOWED,
  RegisterAgentRequest,
} from '../agents/agents.dto.js';
import { AGENT_GRANTS } from './agent-grants.js';
import {
  AgentTokensResponse,
  EXAMPLE_AGENT_ID,
  EXAMPLE_REFRESH_TOKEN,
  ExchangeForAgentTokensRequest,
  INVALID_CODE,
  INVALID_REFRESH_TOKEN,
} from './agent-grants.dto.js';

export class RevokeAgentTokenRequest {
  @ParameterField('An access token or a refresh token.', EXAMPLE_REFRESH_TOKEN)
  token!: string;

  @ParameterField(
    'The agent that the token was issued to. Not required: the token proves it.',
    EXAMPLE_AGENT_ID,
    { required: false },
  )
  client_id?: string;

  @ParameterField('A hint about the kind of token, which is ignored.', 'refresh_token', { required: false })
  token_type_hint?: string;
}

/** RFC 7009, section 2.2, requires no content. */
export class AgentTokenRevocationResponse {}

@ApiSchema({
  description:
    'A registered agent: [RFC 7591, section 3.2.1](https://www.rfc-editor.org/rfc/rfc7591#section-3.2.1). The `client_name` ' +
    'is what users see. `redirect_uris` are those of the request that can be used. Other metadata of the request is replaced.',
})
export class RegisteredAgentResponse extends DocumentLike('RFC 7591, section 3.2.1', {
  client_id_issued_at: 1_790_000_000,
  client_name: 'Example Agent',
  redirect_uris: EXAMPLE_REDIRECT_URIS,
  grant_types: grantTypesOf(AGENT_GRANTS),
  response_types: ['code'],
}) {
  @TextProperty(
    'The redirect addresses of the request that cannot be used, shortened to 200 characters.',
    ['http://agent.example.com/callback'],
    { isArray: true, required: false },
  )
  redirect_uris_left_out?: string[];

  @UuidProperty('The `client_id` of the agent.', '3f2b8a4e-6d1c-4c57-9f0e-8b7a6c5d4e32')
  client_id!: string;

  @ConstantProperty('none', 'Agents have no secret.')
  token_endpoint_auth_method!: 'none';
}

export const EXCHANGE_FOR_AGENT_TOKENS: OperationDocument = {
  operationId: 'exchangeForAgentTokens',
  repeatable: 'always',
  ifRepeated:
    'The response is the same for an hour, as long as nobody has used the new tokens, and for 30 seconds after ' +
    'the first use. A later repetition ends the connection, so repeat it only if you have not got the new tokens. ' +
    'A code without its verifier changes nothing.',
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
    withMessages(INVALID_GRANT, INVALID_CODE, INVALID_REFRESH_TOKEN),
    INVALID_TARGET,
    withMessages(UNSUPPORTED_GRANT_TYPE, messageAboutGrantType(AGENT_GRANTS)),
    withMessages(INVALID_REQUEST, MESSAGES.required('grant type')),
    INVALID_CLIENT,
    NOT_ALLOWED,
  ],
};

export const REVOKE_AGENT_TOKEN: OperationDocument = {
  operationId: 'revokeAgentToken',
  repeatable: 'always',
  ifRepeated: 'The response is the same.',
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
  repeatable: 'always',
  ifRepeated: 'Each request registers another agent. One that no user has connected is deleted after a day.',
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
