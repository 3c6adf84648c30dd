import { hasPrivateAddress } from '../../infrastructure/http-client/index.js';
import {
  TimestampProperty,
  UuidProperty,
  type OperationDocument,
} from '../../infrastructure/openapi/index.js';
import { enumeration } from '../../infrastructure/schemas/index.js';
import {
  BooleanField,
  Constraint,
  EmailField,
  EnumField,
  IntegerField,
  MESSAGES,
  PhoneNumberField,
  ReportAllMissingFields,
  TextField,
  UrlField,
  withMessage,
} from '../../infrastructure/validation/index.js';
import { JOB_ROLES, MAX_NAME_LENGTH, type JobRole } from './job-application.entity.js';
import { CareersConfiguration } from './careers.configuration.js';

const JOB_ROLE = enumeration('JobRole', JOB_ROLES, 'A job that you can apply for.');

const TEXT_LENGTH = 10_000;
/** The maximum of PostgreSQL's type `integer`. */
const MAX_YEARS = 2_147_483_647;

@ReportAllMissingFields()
export class SubmitApplicationRequest {
  @EnumField(JOB_ROLE, { description: 'The job to apply for.', example: 'product_engineer' })
  role!: JobRole;

  @TextField({ max: MAX_NAME_LENGTH, description: 'Full legal name.', example: 'Ada Lovelace' })
  full_name!: string;

  @EmailField({ description: 'Email address.', example: 'ada@example.com' })
  email!: string;

  @UrlField(
    {
      description: 'Public URL of the résumé as a PDF. Share links of cloud drives are accepted.',
      example: 'https://example.com/ada.pdf',
    },
    // The other URLs are not checked: only the résumé is a file that recruiters download, possibly in a private network.
    Constraint(
      'isPublicAddress',
      (value) => !hasPrivateAddress(value as string),
      withMessage(MESSAGES.publicUrl),
    ),
  )
  resume_url!: string;

  @IntegerField({ min: 0, max: MAX_YEARS, description: 'Years of experience.', example: 7 })
  years_experience!: number;

  @BooleanField({ description: 'Whether you are authorized to work in the United States.', example: true })
  authorized_to_work!: boolean;

  @BooleanField({
    description: 'Whether you are willing to work on site in the New York office five days a week.',
    example: true,
  })
  onsite_nyc!: boolean;

  @PhoneNumberField({
    required: false,
    countries: 'all',
    description: 'Phone number with country code (E.164), of any country.',
    example: '+442071838750',
  })
  phone_number?: string;

  @UrlField({
    required: { unless: 'linkedin_url' },
    description: 'GitHub profile. This field or `linkedin_url` is required.',
    example: 'https://github.com/ada',
  })
  github_url?: string;

  @UrlField({
    required: { unless: 'github_url' },
    description: 'LinkedIn profile. This field or `github_url` is required.',
    example: 'https://www.linkedin.com/in/ada',
  })
  linkedin_url?: string;

  @UrlField({ required: false, description: 'Twitter profile.', example: 'https://twitter.com/ada' })
  twitter_url?: string;

  @UrlField({ required: false, description: 'Personal website.', example: 'https://ada.example.com' })
  website?: string;

  @TextField({
    max: TEXT_LENGTH,
    description: 'One thing you are exceptional at, in your own words.',
    example: 'Analytical engines.',
  })
  exceptional_at!: string;
}

export class ApplicationReceipt {
  @UuidProperty(
    'ID of the application. Quote it if you ask about your application.',
    '5b0c7a52-43c8-4c0e-9a53-0f2d4f0f6a11',
  )
  id!: string;

  @TimestampProperty('When the application was received.')
  received_at!: Date;
}

export const SUBMIT_JOB_APPLICATION: OperationDocument = {
  operationId: 'submitJobApplication',
  place: 9,
  repeatable: 'never',
  ifRepeated: 'Each request stores another application.',
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
