import { withExamples, type OperationDocument } from '../../../infrastructure/openapi/index.js';
import { MESSAGES } from '../../../infrastructure/validation/index.js';
import { OAuthConfiguration } from '../oauth.configuration.js';
import { INVALID_CLIENT, INVALID_REQUEST } from '../protocol/oauth-errors.js';
import { DeviceCodeRequest, DeviceCodeResponse } from './device-authorizations.dto.js';

export const REQUEST_DEVICE_CODE: OperationDocument = {
  operationId: 'requestDeviceCode',
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
    withExamples(
      INVALID_REQUEST,
      MESSAGES.required('client id'),
      'A parameter of the form is given more than once.',
      'This endpoint takes no Authorization header.',
      'The request body must be application/x-www-form-urlencoded.',
    ),
    INVALID_CLIENT,
  ],
};
