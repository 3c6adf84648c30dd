import { ApiSchema } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import {
  ConstantProperty,
  DocumentLike,
  TextProperty,
  UuidProperty,
  withSharedMessages,
} from '../../../infrastructure/openapi/index.js';
import { ArrayField, Field, MESSAGES, withMessage } from '../../../infrastructure/validation/index.js';
import { OAuthErrorKind } from '../../oauth/index.js';

const EXAMPLE_REDIRECT_URIS = ['https://agent.example.com/callback'];

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

@ApiSchema({
  description:
    'A registered agent: [RFC 7591, section 3.2.1](https://www.rfc-editor.org/rfc/rfc7591#section-3.2.1). The `client_name` ' +
    'is what users see. `redirect_uris` are those of the request that can be used. Other metadata of the request is replaced.',
})
export class RegisteredAgentResponse extends DocumentLike('RFC 7591, section 3.2.1', {
  client_id_issued_at: 1_790_000_000,
  client_name: 'Example Agent',
  redirect_uris: EXAMPLE_REDIRECT_URIS,
  grant_types: ['authorization_code', 'refresh_token'],
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
