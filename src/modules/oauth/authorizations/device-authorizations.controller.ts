import { Controller, Post } from '@nestjs/common';
import { Origin, type RequestOrigin } from '../../../infrastructure/http/index.js';
import { Topic } from '../../../infrastructure/openapi/index.js';
import { perMinute } from '../../../infrastructure/rate-limiting/index.js';
import { PublicForm } from '../protocol/oauth-form.js';
import { OAuthOperation } from '../protocol/oauth-operation.js';
import { OAuthConfiguration } from '../oauth.configuration.js';
import { DeviceCodeRequest, DeviceCodeResponse, REQUEST_DEVICE_CODE } from './device-authorizations.dto.js';
import { DeviceAuthorizationsService } from './device-authorizations.service.js';

@Topic(
  'Access tokens',
  'Tokens for programs: from the device authorization flow, for an API key, or for the token of a workload.',
)
@Controller('oauth/device')
export class DeviceAuthorizationsController {
  constructor(private readonly authorizations: DeviceAuthorizationsService) {}

  @Post('code')
  @OAuthOperation(REQUEST_DEVICE_CODE, {
    limit: perMinute('device-codes', 'address', OAuthConfiguration, 'deviceCodesPerMinute'),
  })
  request(
    @PublicForm() request: DeviceCodeRequest,
    @Origin() origin: RequestOrigin,
  ): Promise<DeviceCodeResponse> {
    return this.authorizations.request(request, origin);
  }
}
