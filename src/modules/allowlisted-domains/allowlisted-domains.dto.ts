import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { TextField, withMessage } from '../../infrastructure/validation/index.js';
import { domainName } from './domain-name.js';

const MAX_DOMAIN_LENGTH = 253;

function IsDomain(): PropertyDecorator {
  return ValidateBy(
    { name: 'isDomain', validator: { validate: (value) => domainName(value as string) !== undefined } },
    withMessage((field) => `The ${field} field must be a domain name such as example.com.`),
  );
}

export class AddDomainRequest {
  @TextField(
    {
      min: 3,
      max: MAX_DOMAIN_LENGTH,
      description: 'The domain, without its subdomains. You can write international names in Unicode.',
      example: 'example.com',
    },
    IsDomain(),
  )
  domain!: string;
}

export class AllowlistedDomainResponse {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'ID of the entry.',
    example: '0e0a5d3f-7b0a-4c55-9d6c-6a1d3c9a2f10',
  })
  id!: string;

  @ApiProperty({
    type: String,
    description: 'The domain, in lower case and ASCII (IDNA).',
    example: 'example.com',
  })
  domain!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When the domain was added.',
    example: '2026-01-31T08:15:30.123Z',
  })
  created_at!: Date;
}

export const EXAMPLE_DOMAIN = {
  id: '0e0a5d3f-7b0a-4c55-9d6c-6a1d3c9a2f10',
  domain: 'example.com',
  created_at: '2026-01-31T08:15:30.123Z',
};
