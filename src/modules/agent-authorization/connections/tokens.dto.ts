import { IntersectionType, OmitType, PartialType } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import {
  ConstantProperty,
  IntegerProperty,
  TextProperty,
  withMessages,
  type OperationDocument,
} from '../../../infrastructure/openapi/index.js';
import { Field, MESSAGES } from '../../../infrastructure/validation/index.js';
import {
  INVALID_CLIENT,
  INVALID_GRANT,
  INVALID_REQUEST,
  ParameterField,
  UNSUPPORTED_GRANT_TYPE,
} from '../../oauth/index.js';
import { AgentAuthorizationConfiguration } from '../agent-authorization.configuration.js';
import {
  INVALID_CLIENT_METADATA,
  INVALID_REDIRECT_URI,
  INVALID_TARGET,
  NOT_ALLOWED,
  RegisterAgentRequest,
  RegisteredAgentResponse,
} from '../agents/agents.dto.js';
import { CLIENT_ID_PARAMETER, EXAMPLE_RESOURCE } from '../metadata/agent-metadata.dto.js';

const EXAMPLE_AGENT_ID = 'https://agent.example.com/oauth/client.json';
/** Looks like a secret but has a wrong checksum, so that leak scanners do not report it. */
const EXAMPLE_CODE = '4fJq0vN8sYw2Lb7RtXk1ZcE5hUaGm9Pd3oViKy6Wn00000000';
const EXAMPLE_REFRESH_TOKEN = 'mcr_dev_4fJq0vN8sYw2Lb7RtXk1ZcE5hUaGm9Pd3oViKy6Wn00000000';
const EXAMPLE_ACCESS_TOKEN = 'mcp_dev_4fJq0vN8sYw2Lb7RtXk1ZcE5hUaGm9Pd3oViKy6Wn00000000';

/** What every grant has. */
export class AgentTokenRequest {
  @ParameterField(
    '`authorization_code` or `refresh_token`. The first requires `code` and `code_verifier`, the second `refresh_token`.',
    'authorization_code',
  )
  grant_type!: string;

  @ParameterField(
    'The agent: the URL of its metadata document, or the ID of its registration.',
    EXAMPLE_AGENT_ID,
  )
  client_id!: string;

  @Field(
    {
      in: 'form',
      required: false,
      description:
        'The address of the agent connector (RFC 8707). No other value is accepted. May be repeated.',
      example: EXAMPLE_RESOURCE,
      schema: { type: String },
      convert: (value) => [value].flat(),
    },
    IsString({ each: true }),
  )
  resource?: string[];
}

/** RFC 6749, section 4.1.3, and RFC 7636, section 4.5. */
export class RedeemCodeRequest extends AgentTokenRequest {
  @ParameterField('The code from the redirect.', EXAMPLE_CODE)
  code!: string;

  @ParameterField(
    'The redirect address of the authorization request. Not required, because PKCE protects the code (OAuth 2.1).',
    'https://agent.example.com/callback',
    { required: false },
  )
  redirect_uri?: string;

  @ParameterField(
    'The text whose SHA-256 is the code challenge.',
    'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  )
  code_verifier!: string;
}

/** RFC 6749, section 6. */
export class RefreshTokensRequest extends AgentTokenRequest {
  @ParameterField('The latest refresh token.', EXAMPLE_REFRESH_TOKEN)
  refresh_token!: string;

  @ParameterField(
    'Fewer scopes than the user has granted. Others are ignored; the default is all of them.',
    'accounts:read',
    { required: false },
  )
  scope?: string;
}

/** The parameters of all grants, for the API document. */
class ExchangeForAgentTokensRequest extends IntersectionType(
  AgentTokenRequest,
  PartialType(OmitType(RedeemCodeRequest, ['grant_type', 'client_id', 'resource'])),
  PartialType(OmitType(RefreshTokensRequest, ['grant_type', 'client_id', 'resource'])),
) {}

export class AgentTokensResponse {
  @ConstantProperty('Bearer', 'How to send the access token.')
  token_type!: 'Bearer';

  @IntegerProperty('Seconds until the access token expires.', 3600)
  expires_in!: number;

  @TextProperty('An MCP token for the address of the agent connector. Keep it secret.', EXAMPLE_ACCESS_TOKEN)
  access_token!: string;

  @TextProperty('Can be exchanged once. Keep it secret.', EXAMPLE_REFRESH_TOKEN)
  refresh_token!: string;

  @TextProperty('The scopes of the access token.', 'accounts:read sign_in_links:write')
  scope!: string;
}

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
