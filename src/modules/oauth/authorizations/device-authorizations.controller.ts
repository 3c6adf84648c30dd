import { Controller, Post } from '@nestjs/common';
import { Origin, type FormFields, type RequestOrigin } from '../../../infrastructure/http/index.js';
import { withMessages, Topic } from '../../../infrastructure/openapi/index.js';
import { INVALID_CLIENT, INVALID_REQUEST, INVALID_SCOPE } from '../protocol/oauth-errors.js';
import { PublicForm } from '../protocol/oauth-form.js';
import { OAuthOperation } from '../protocol/oauth-operation.js';
import { OAuthConfiguration } from '../oauth.configuration.js';
import { DeviceCodeRequest, DeviceCodeResponse, EXAMPLE_DEVICE_CODE } from './device-authorizations.dto.js';
import { DeviceAuthorizationsService } from './device-authorizations.service.js';

@Topic(
  'Access tokens',
  'How a program gets into the dashboard API: the device authorization flow, its keys and metadata.',
)
@Controller('oauth/device')
export class DeviceAuthorizationsController {
  constructor(private readonly authorizations: DeviceAuthorizationsService) {}

  @Post('code')
  @OAuthOperation({
    operationId: 'requestDeviceCode',
    summary: 'Request device code',
    description:
      'Begins the device authorization flow (RFC 8628). Show the person `user_code` and `verification_uri`, ' +
      'then poll `POST /oauth/token` with `device_code`. The person logs in to the dashboard, enters the ' +
      'code, sees what asks for access and approves or declines it. Only users of the organization that the ' +
      'client belongs to can find the code. Limit: 60 requests a minute from one address.',
    body: DeviceCodeRequest,
    response: DeviceCodeResponse,
    responseDescription: 'The codes, for 10 minutes.',
    responseExample: {
      device_code: EXAMPLE_DEVICE_CODE,
      user_code: 'WDJB-MJHT',
      verification_uri: 'https://dashboard.example.com/device',
      expires_in: 600,
      interval: 5,
    },
    limit: {
      name: 'device-codes',
      requests: (configuration) => configuration.get(OAuthConfiguration).deviceCodesPerMinute,
      per: 'address',
      seconds: 60,
    },
    errors: [
      withMessages(
        INVALID_REQUEST,
        'The client id field is required.',
        'A parameter of the form is given more than once.',
        'This endpoint takes no Authorization header.',
        'The request body must be application/x-www-form-urlencoded.',
      ),
      INVALID_SCOPE,
      INVALID_CLIENT,
    ],
  })
  request(@PublicForm() form: FormFields, @Origin() origin: RequestOrigin): Promise<DeviceCodeResponse> {
    return this.authorizations.request(form, origin);
  }
}
