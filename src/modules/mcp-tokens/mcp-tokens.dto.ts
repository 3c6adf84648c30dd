import { ACCEPTS_IDEMPOTENCY_KEY, IDEMPOTENCY_ERRORS } from '../../infrastructure/idempotency/index.js';
import {
  TextProperty,
  TimestampProperty,
  type OperationDocument,
} from '../../infrastructure/openapi/index.js';
import { DAY, HOUR, SECOND } from '../../infrastructure/time/index.js';
import {
  ExternalUserIdField,
  IntegerField,
  PhoneNumberField,
} from '../../infrastructure/validation/index.js';
import { McpTokensConfiguration } from './mcp-tokens.configuration.js';

/** Seconds from the creation of a token until it expires. */
const MIN_LIFETIME = 60;
const DEFAULT_LIFETIME = 86_400;
export const MAX_LIFETIME = 2_592_000;

/** Looks like a token but has a wrong checksum, so that leak scanners do not report it. */
const EXAMPLE_TOKEN = 'mcp_dev_4fJq0vN8sYw2Lb7RtXk1ZcE5hUaGm9Pd3oViKy6Wn00000000';

export class CreateMcpTokenRequest {
  @ExternalUserIdField()
  external_user_id!: string;

  @IntegerField({
    required: false,
    min: MIN_LIFETIME,
    max: MAX_LIFETIME,
    default: DEFAULT_LIFETIME,
    description:
      `Seconds until the token expires, from ${MIN_LIFETIME} seconds to ${(MAX_LIFETIME * SECOND) / DAY} days. ` +
      `The default is ${(DEFAULT_LIFETIME * SECOND) / HOUR} hours.`,
    example: 3600,
  })
  expires_in: number = DEFAULT_LIFETIME;

  @PhoneNumberField({
    required: false,
    countries: 'US and Canada',
    description:
      'E.164; a valid US or Canadian number. Leave it out for other users. With it, agents send sign-in links by text message; ' +
      'without it, they create sign-in links only if you have a login page, where the user must log in.',
    example: '+12125550123',
  })
  phone_number?: string;
}

export class McpTokenResponse {
  @TextProperty(
    'The token. Keep it secret: it is shown only once, and anyone who has it can act for the user.',
    EXAMPLE_TOKEN,
    { pattern: '^mcp_(dev|live)_[0-9A-Za-z]{49}$' },
  )
  token!: string;

  @TimestampProperty('When the token expires.')
  expires_at!: Date;
}

export const CREATE_MCP_TOKEN: OperationDocument = {
  operationId: 'createMcpToken',
  place: 1,
  repeatable: 'always',
  ifRepeated:
    'You get another token. The token of the lost response expires by itself. With an idempotency key, you get ' +
    'the same token.',
  summary: 'Create MCP token',
  description: (configurationOf) =>
    'Creates a short-lived token that connects an agent to the agent connector, an MCP server at `/mcp`, on behalf of ' +
    'one of your users: see `/docs/agent-connector`. Call this operation from your backend at the start of each agent ' +
    'session and pass the token to the agent. The token is returned only once. Limit: ' +
    `${configurationOf(McpTokensConfiguration).requestsPerMinute} requests per minute per client, including ` +
    'authenticated requests that fail.',
  ...ACCEPTS_IDEMPOTENCY_KEY,
  body: CreateMcpTokenRequest,
  response: McpTokenResponse,
  responseDescription: 'The token was created.',
  errors: IDEMPOTENCY_ERRORS,
};
