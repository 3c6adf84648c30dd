import { Controller, Post } from '@nestjs/common';
import { JsonBody } from '../../infrastructure/http/index.js';
import { Topic } from '../../infrastructure/openapi/index.js';
import { CareersOperation } from '../../infrastructure/surfaces/index.js';
import { CareersConfiguration } from './careers.configuration.js';
import { ApplicationReceipt, SubmitApplicationRequest } from './careers.dto.js';
import { CareersService } from './careers.service.js';
import { SUBMIT_JOB_APPLICATION } from './careers.docs.js';

@Topic('Job applications', 'For applicants. No credentials required.')
@Controller()
export class CareersController {
  constructor(private readonly careers: CareersService) {}

  @Post('apply')
  @CareersOperation(SUBMIT_JOB_APPLICATION, {
    name: 'careers',
    requests: (configuration) => configuration.get(CareersConfiguration).requestsPerHour,
    per: 'address',
    seconds: 3600,
  })
  submit(@JsonBody() request: SubmitApplicationRequest): Promise<ApplicationReceipt> {
    return this.careers.submit(request);
  }
}
