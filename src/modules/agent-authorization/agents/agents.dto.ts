import { IsString } from 'class-validator';
import { withSharedMessages } from '../../../infrastructure/openapi/index.js';
import { ArrayField, Field, MESSAGES, withMessage } from '../../../infrastructure/validation/index.js';
import { OAuthErrorKind } from '../../oauth/index.js';

export const EXAMPLE_REDIRECT_URIS = ['https://agent.example.com/callback'];

/** Addresses that users may return to. The service checks them, because its errors differ. */
export function RedirectUrisField(options: {
  readonly max?: number;
  readonly in?: 'form';
}): PropertyDecorator {
  return ArrayField({
    max: 10,
    ...options,
    items: { type: 'string', minLength: 1, pattern: '\\S' },
    validateItem: (item, field) => (typeof item === 'string' ? undefined : MESSAGES.string(field)),
    description:
      'Where users may return: https URLs, http URLs of a loopback address, whose port may differ later, or URLs with the ' +
      'scheme of an app on the user’s device.',
    example: EXAMPLE_REDIRECT_URIS,
  });
}

/** RFC 7591, section 2. Other metadata are ignored, as parameters of a form are. */
export class RegisterAgentRequest {
  @RedirectUrisField({ max: 100 })
  redirect_uris!: string[];

  @Field(
    {
      in: 'form',
      required: false,
      description: 'The name that users see: the first 200 characters.',
      example: 'Example Agent',
      schema: { type: String },
    },
    IsString(withMessage(MESSAGES.string)),
  )
  client_name?: string;
}

export const INVALID_REDIRECT_URI = new OAuthErrorKind(400, 'INVALID_REQUEST', 'INVALID_FIELD', {
  oauthCode: 'invalid_redirect_uri',
  when: 'No redirect address can be used (`invalid_redirect_uri`).',
  message:
    'Each redirect URI must be an https URL, an http URL of 127.0.0.1, [::1] or localhost, or a URL with the scheme of an app, such as vscode, without a fragment and with at most 2000 characters.',
});

export const INVALID_CLIENT_METADATA = new OAuthErrorKind(400, 'INVALID_REQUEST', 'INVALID_FIELD', {
  oauthCode: 'invalid_client_metadata',
  when: 'A field of the registration is missing or has another type (`invalid_client_metadata`).',
  message: 'The redirect uris field is required.',
});

export const AGENTS_NOT_ALLOWED = new OAuthErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  oauthCode: 'invalid_request',
  when: 'There is no API client with this ID, or its organization does not allow agents to log in (`invalid_request`).',
  message: 'Agents cannot log in at this address.',
});

/** The settings of the API client do not allow the agent, or no longer do. */
export const AGENT_NOT_ALLOWED = 'This organization does not allow this agent.';

export const INVALID_TARGET = new OAuthErrorKind(400, 'INVALID_REQUEST', 'INVALID_FIELD', {
  oauthCode: 'invalid_target',
  when: 'The `resource` is another address than that of the API client (`invalid_target`).',
  message: 'The resource field must be the address of the agent connector that the issuer belongs to.',
});

/** The same for the API document, in which several errors are called `invalid_request`. */
export const NOT_ALLOWED = withSharedMessages(
  'AgentsNotAllowed',
  AGENTS_NOT_ALLOWED,
  AGENTS_NOT_ALLOWED.message,
);
