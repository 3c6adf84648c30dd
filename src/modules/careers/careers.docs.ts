import { RATE_LIMIT_EXCEEDED } from '../../infrastructure/errors/index.js';
import type { OperationDocument } from '../../infrastructure/openapi/index.js';
import { CareersConfiguration } from './careers.configuration.js';
import { ApplicationReceipt, SubmitApplicationRequest } from './careers.dto.js';

export const SUBMIT_JOB_APPLICATION: OperationDocument = {
  operationId: 'submitJobApplication',
  summary: 'Submit job application',
  description: (configuration) => {
    const { requestsPerHour, retentionDays } = configuration(CareersConfiguration);
    return (
      'Submits a job application. Use it for the form on a careers page. At least one of `github_url` and ' +
      '`linkedin_url` is required; the message about missing fields names all of them. Only our recruiters can read your data, and it is deleted after ' +
      `${retentionDays} days. Limit: ${requestsPerHour} requests per hour per IP address.`
    );
  },
  body: SubmitApplicationRequest,
  response: ApplicationReceipt,
  responseDescription: 'The application was received.',
  errors: [RATE_LIMIT_EXCEEDED],
};
