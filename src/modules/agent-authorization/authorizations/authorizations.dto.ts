import { ACCEPTS_IDEMPOTENCY_KEY, IDEMPOTENCY_ERRORS } from '../../../infrastructure/idempotency/index.js';
import {
  TextProperty,
  TimestampProperty,
  uuidParameter,
  withMessages,
  type OperationDocument,
} from '../../../infrastructure/openapi/index.js';
import { ExternalUserIdField, PhoneNumberField } from '../../../infrastructure/validation/index.js';
import { DISPLAYED_USER_CODE } from '../../oauth/index.js';
import { AUTHORIZATION_CLOSED, AUTHORIZATION_NOT_FOUND } from '../agent-authorization-errors.js';

const EXAMPLE_AUTHORIZATION_ID = '6b8c1d9e-2f43-4f5a-9c1b-7a0e3d2c4b59';

/** The user whom the partner has logged in. */
export class AgentUserRequest {
  @ExternalUserIdField()
  external_user_id!: string;

  @PhoneNumberField({
    required: false,
    countries: 'US and Canada',
    description:
      'E.164; a valid US or Canadian number. Leave it out for other users. With it, the agent sends sign-in links by text message; ' +
      'without it, the agent creates sign-in links only if you have a login page, where the user must log in.',
    example: '+12125550123',
  })
  phone_number?: string;
}

export class CompletedAuthorizationResponse {
  @TextProperty(
    'Redirect the user’s browser to this address. It works once, in the browser in which the user started.',
    `https://agents.example.com/connections/19b11f7c-4c8e-49bf-853e-3cea2462349f/authorizations/${EXAMPLE_AUTHORIZATION_ID}?ticket=example`,
    { format: 'uri' },
  )
  redirect_url!: string;
}

export class ConnectionCodeResponse {
  @TextProperty('The code to show to the user.', 'WDJB-MJHT', { pattern: DISPLAYED_USER_CODE })
  code!: string;

  @TimestampProperty('When the code expires: after 5 minutes.')
  expires_at!: Date;
}

export const COMPLETE_AUTHORIZATION: OperationDocument = {
  operationId: 'completeAgentAuthorization',
  repeatable: 'always',
  ifRepeated:
    'With the same user, the response is the same until the browser has returned to the service. After that, and ' +
    'with another user, 409.',
  summary: 'Complete agent authorization',
  description:
    'Says which of your users has logged in: to connect an agent, to use a sign-in link, or to open the page of the user. Users come ' +
    'to your login address with an `authorization_id`. Log the user in as always, call this operation from your backend with the ' +
    'credentials of the environment in the query of the address, and redirect the browser to the `redirect_url`, where the user ' +
    'continues. Works once, within 10 minutes. Until the browser has returned, a repeated request gets the same response.',
  pathParameters: {
    authorization_id: uuidParameter(
      'AgentAuthorizationIdParameter',
      'The `authorization_id` in the query of your login address.',
      EXAMPLE_AUTHORIZATION_ID,
    ),
  },
  ...ACCEPTS_IDEMPOTENCY_KEY,
  body: AgentUserRequest,
  response: CompletedAuthorizationResponse,
  responseDescription: 'The user is known.',
  errors: [
    withMessages(AUTHORIZATION_NOT_FOUND, AUTHORIZATION_NOT_FOUND.message),
    withMessages(AUTHORIZATION_CLOSED, AUTHORIZATION_CLOSED.message),
    ...IDEMPOTENCY_ERRORS,
  ],
};

export const CREATE_CONNECTION_CODE: OperationDocument = {
  operationId: 'createConnectionCode',
  repeatable: 'always',
  ifRepeated:
    'You get another code. The code of the lost response expires after 5 minutes. With an idempotency key, you get the same code.',
  summary: 'Create connection code',
  description:
    'Creates a code with which one of your users connects an agent, for apps without a login page on the web. Show the code to ' +
    'the user, who types it on the page that the agent opens. It works once, for 5 minutes. Anyone who has the code can connect ' +
    'an agent to the user, so tell the user not to pass it on.',
  ...ACCEPTS_IDEMPOTENCY_KEY,
  body: AgentUserRequest,
  response: ConnectionCodeResponse,
  responseDescription: 'The code was created.',
  errors: IDEMPOTENCY_ERRORS,
};
