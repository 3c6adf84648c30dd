import { DEVICE_SCOPES } from '../../../infrastructure/auth/index.js';
import {
  IntegerProperty,
  TextProperty,
  withExamples,
  type OperationDocument,
} from '../../../infrastructure/openapi/index.js';
import { MESSAGES } from '../../../infrastructure/validation/index.js';
import { OAuthConfiguration } from '../oauth.configuration.js';
import { INVALID_CLIENT, INVALID_REQUEST } from '../protocol/oauth-errors.js';
import { ParameterField, PUBLIC_FORM_PROBLEMS } from '../protocol/oauth-form.js';
import { DISPLAYED_USER_CODE } from './user-code.js';

export const EXAMPLE_CLIENT_ID = '19b11f7c-4c8e-49bf-853e-3cea2462349f';
export const EXAMPLE_DEVICE_CODE = '6tWyiEDHh4Dq1rmq0oTgxkFE2Y3nVnBq5h0bX8JrZLk';

export class DeviceCodeRequest {
  @ParameterField(
    'The API client that the token is requested for. It also determines the environment.',
    EXAMPLE_CLIENT_ID,
    { format: 'uuid' },
  )
  client_id!: string;

  @ParameterField(
    `The requested scopes, separated by spaces: ${DEVICE_SCOPES.map((scope) => `\`${scope}\``).join(', ')}. Unknown scopes are ignored. The default is all scopes.`,
    'request_logs:read webhook_endpoints:read',
    { required: false },
  )
  scope?: string;
}

export class DeviceCodeResponse {
  @TextProperty('The code that the device polls with. Keep it secret.', EXAMPLE_DEVICE_CODE)
  device_code!: string;

  @TextProperty('The code that the user enters at `verification_uri`.', 'WDJB-MJHT', {
    pattern: DISPLAYED_USER_CODE,
  })
  user_code!: string;

  @TextProperty(
    'The page where the user approves the device. It is short enough to type.',
    'https://dashboard.example.com/device',
    { format: 'uri' },
  )
  verification_uri!: string;

  @TextProperty(
    'The same page with the user code in the URL. Only present if the deployment enables it.',
    'https://dashboard.example.com/device?user_code=WDJB-MJHT',
    { required: false, format: 'uri' },
  )
  verification_uri_complete?: string;

  @IntegerProperty('Seconds until both codes expire.', 600)
  expires_in!: number;

  @IntegerProperty('Seconds to wait between two polls.', 5)
  interval!: number;
}

export const REQUEST_DEVICE_CODE: OperationDocument = {
  operationId: 'requestDeviceCode',
  place: 2,
  repeatable: 'always',
  ifRepeated: 'You get another code.',
  summary: 'Request device code',
  description: (configurationOf) =>
    'Starts the device authorization flow (RFC 8628). Show the user `user_code` and `verification_uri`, then poll ' +
    '`POST /oauth/token` with `device_code`. The user logs in to the dashboard, enters the code, sees what requests ' +
    'access and approves or declines it. Only users of the organization that owns the client can find the code. Limit: ' +
    `${configurationOf(OAuthConfiguration).deviceCodesPerMinute} requests per minute per IP address.`,
  body: DeviceCodeRequest,
  response: DeviceCodeResponse,
  responseDescription: 'The codes. They are valid for 10 minutes.',
  responseExample: { verification_uri_complete: undefined },
  errors: [
    withExamples(INVALID_REQUEST, MESSAGES.required('client id'), ...PUBLIC_FORM_PROBLEMS),
    INVALID_CLIENT,
  ],
};
