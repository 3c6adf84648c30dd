import type { OperationDocument } from '../../infrastructure/openapi/index.js';
import { CareersConfiguration } from './careers.configuration.js';
import { ApplicationReceipt, SubmitApplicationRequest } from './careers.dto.js';

export const SUBMIT_JOB_APPLICATION: OperationDocument = {
  operationId: 'submitJobApplication',
  summary: 'Submit job application',
  description: (configurationOf) => {
    const { requestsPerHour, retentionDays } = configurationOf(CareersConfiguration);
    return (
      'Submits a job application. Use it for the form on a careers page. At least one of `github_url` and ' +
      '`linkedin_url` is required. If required fields are missing, the error message lists all of them. Only recruiters ' +
      `can read applications. An application is deleted after ${retentionDays} days. Limit: ${requestsPerHour} requests per hour per IP address.`
    );
  },
  body: SubmitApplicationRequest,
  response: ApplicationReceipt,
  responseDescription: 'The application was received.',
  errors: [],
};
