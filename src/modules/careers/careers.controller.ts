import { Controller, Post } from '@nestjs/common';
import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { JsonBody } from '../../infrastructure/http/index.js';
import { withMessages, Topic } from '../../infrastructure/openapi/index.js';
import { CareersOperation } from '../../infrastructure/surfaces/index.js';
import { CareersConfiguration } from './careers.configuration.js';
import { ApplicationReceipt, SubmitApplicationRequest } from './careers.dto.js';
import { CareersService } from './careers.service.js';

@Topic('Job applications', 'For applicants. No credentials.')
@Controller()
export class CareersController {
  constructor(private readonly careers: CareersService) {}

  @Post('apply')
  @CareersOperation({
    operationId: 'submitJobApplication',
    summary: 'Submit job application',
    description:
      'Takes a job application. For the form on a careers page. At least one of `github_url` and ' +
      '`linkedin_url` is required. Your data is read by our recruiters only and deleted after a year. ' +
      'Limit: 30 requests an hour from one address.',
    body: SubmitApplicationRequest,
    response: ApplicationReceipt,
    responseDescription: 'The application was received.',
    responseExample: {
      id: '5b0c7a52-43c8-4c0e-9a53-0f2d4f0f6a11',
      received_at: '2026-01-31T08:15:30.123Z',
    },
    limit: {
      name: 'careers',
      requests: (configuration) => configuration.get(CareersConfiguration).requestsPerHour,
      per: 'address',
      seconds: 3600,
    },
    errors: [
      withMessages(
        INVALID_FIELD,
        'The selected role is invalid.',
        'The email field must be a valid email address.',
        'The github url field is required when the linkedin url field is not present.',
      ),
    ],
  })
  submit(@JsonBody() request: SubmitApplicationRequest): Promise<ApplicationReceipt> {
    return this.careers.submit(request);
  }
}
