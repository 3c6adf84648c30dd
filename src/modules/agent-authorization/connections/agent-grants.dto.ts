import { IntersectionType, OmitType, PartialType } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import { ConstantProperty, IntegerProperty, TextProperty } from '../../../infrastructure/openapi/index.js';
import { Field } from '../../../infrastructure/validation/index.js';
import { ParameterField } from '../../oauth/index.js';
import { EXAMPLE_RESOURCE } from '../agent-issuer.dto.js';

export const EXAMPLE_AGENT_ID = 'https://agent.example.com/oauth/client.json';
/** Looks like a secret but has a wrong checksum, so that leak scanners do not report it. */
const EXAMPLE_CODE = '4fJq0vN8sYw2Lb7RtXk1ZcE5hUaGm9Pd3oViKy6Wn00000000';
export const EXAMPLE_REFRESH_TOKEN = 'mcr_dev_4fJq0vN8sYw2Lb7RtXk1ZcE5hUaGm9Pd3oViKy6Wn00000000';
const EXAMPLE_ACCESS_TOKEN = 'mcp_dev_4fJq0vN8sYw2Lb7RtXk1ZcE5hUaGm9Pd3oViKy6Wn00000000';

/** The parameters of every grant. */
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
export class ExchangeForAgentTokensRequest extends IntersectionType(
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

export const INVALID_CODE = 'The code is not valid. Start the authorization again.';
export const INVALID_REFRESH_TOKEN = 'The refresh token is not valid. Start the authorization again.';
