import { ApiProperty } from '@nestjs/swagger';
import {
  Field,
  isBoolean,
  isE164,
  isEmailAddress,
  isInteger,
  isOneOf,
  isString,
  isWebUrl,
  maximum,
  maximumCharacters,
  minimum,
  type FieldOptions,
} from '../../infrastructure/validation/index.js';
import { JOB_ROLES, type JobRole } from './job-application.entity.js';

const URL_LENGTH = 2083;
const NAME_LENGTH = 256;
/** RFC 5321, section 4.5.3.1.3: a path of 256 with its two brackets. */
const EMAIL_LENGTH = 254;
const TEXT_LENGTH = 10_000;
/** What the column holds. */
const MAX_YEARS = 2_147_483_647;

function Text(description: string, length: number, example: string): PropertyDecorator {
  return Field({
    rules: [isString, maximumCharacters(length)],
    document: { type: String, minLength: 1, maxLength: length, description, example },
  });
}

/** An http or https URL of 1 to 2083 characters. */
function WebUrl(
  description: string,
  example: string,
  required: FieldOptions['required'] = true,
): PropertyDecorator {
  return Field({
    required,
    rules: [isString, maximumCharacters(URL_LENGTH), isWebUrl],
    document: { type: String, format: 'uri', minLength: 1, maxLength: URL_LENGTH, description, example },
  });
}

function YesOrNo(description: string): PropertyDecorator {
  return Field({ rules: [isBoolean], document: { type: Boolean, description, example: true } });
}

export class SubmitApplicationRequest {
  @Field({
    rules: [isOneOf(JOB_ROLES)],
    document: { enum: [...JOB_ROLES], description: 'The job applied for.', example: 'product_engineer' },
  })
  role!: JobRole;

  @Text('Full legal name.', NAME_LENGTH, 'Ada Lovelace')
  full_name!: string;

  @Field({
    rules: [isString, maximumCharacters(EMAIL_LENGTH), isEmailAddress],
    document: {
      type: String,
      format: 'email',
      maxLength: EMAIL_LENGTH,
      description: 'E-mail address.',
      example: 'ada@example.com',
    },
  })
  email!: string;

  @WebUrl(
    'Public address of the résumé as PDF; share links of cloud drives are fine.',
    'https://example.com/ada.pdf',
  )
  resume_url!: string;

  @Field({
    rules: [isInteger, minimum(0), maximum(MAX_YEARS)],
    document: {
      type: 'integer',
      minimum: 0,
      maximum: MAX_YEARS,
      description: 'Years of experience.',
      example: 7,
    },
  })
  years_experience!: number;

  @YesOrNo('Authorized to work in the United States.')
  authorized_to_work!: boolean;

  @YesOrNo('Willing to work on site in the company’s New York office five days a week.')
  onsite_nyc!: boolean;

  @Field({
    required: false,
    rules: [isE164],
    document: {
      type: String,
      pattern: '^\\+[1-9]\\d{1,14}$',
      description: 'Phone number with country code (E.164), of any country.',
      example: '+442071838750',
    },
  })
  phone_number?: string;

  @WebUrl('GitHub profile. This or `linkedin_url` is required.', 'https://github.com/ada', {
    unless: 'linkedin_url',
  })
  github_url?: string;

  @WebUrl('LinkedIn profile. This or `github_url` is required.', 'https://www.linkedin.com/in/ada', {
    unless: 'github_url',
  })
  linkedin_url?: string;

  @WebUrl('Twitter profile.', 'https://twitter.com/ada', false)
  twitter_url?: string;

  @WebUrl('Personal website.', 'https://ada.example.com', false)
  website?: string;

  @Text('One thing you are exceptional at, in your own words.', TEXT_LENGTH, 'Analytical engines.')
  exceptional_at!: string;
}

export class ApplicationReceipt {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'Names the application, should you ask about it.',
    example: '5b0c7a52-43c8-4c0e-9a53-0f2d4f0f6a11',
  })
  id!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When it was received.',
    example: '2026-01-31T08:15:30.123Z',
  })
  received_at!: Date;
}
