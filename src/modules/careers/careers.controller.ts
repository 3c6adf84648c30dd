import { Body, Controller, Post } from '@nestjs/common';
import { Topic } from '../../infrastructure/openapi/index.js';
import { CareersOperation } from '../../infrastructure/surfaces/index.js';
import { CareersConfiguration } from './careers.configuration.js';
import { ApplicationReceipt, SUBMIT_JOB_APPLICATION, SubmitApplicationRequest } from './careers.dto.js';
import { CareersService } from './careers.service.js';

@Topic('Job applications', 'For applicants. No credentials required.')
@Controller()
export class CareersController {
  constructor(private readonly careers: CareersService) {}

  @Post('apply')
  @CareersOperation(SUBMIT_JOB_APPLICATION, {
    limit: {
      name: 'careers',
      requests: (configuration) => configuration.get(CareersConfiguration).requestsPerHour,
      per: 'address',
      seconds: 3600,
    },
  })
  submit(@Body() request: SubmitApplicationRequest): Promise<ApplicationReceipt> {
    return this.careers.submit(request);
  }
}
