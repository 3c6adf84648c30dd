import { ApiProperty } from '@nestjs/swagger';
import { Field, isString, maximumCharacters, type Rule } from '../../infrastructure/validation/index.js';
import { domainName } from './domain-name.js';

const MAX_DOMAIN_LENGTH = 253;

const isDomain: Rule = (value, { words }) =>
  domainName(value as string) === undefined
    ? `The ${words} field must be a domain name such as example.com.`
    : undefined;

export class AddDomainRequest {
  @Field({
    rules: [isString, maximumCharacters(MAX_DOMAIN_LENGTH), isDomain],
    document: {
      type: String,
      minLength: 3,
      maxLength: MAX_DOMAIN_LENGTH,
      description:
        'The domain, without its subdomains. International names may be written in their own letters.',
      example: 'example.com',
    },
  })
  domain!: string;
}

export class AllowlistedDomainResponse {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'Names the entry.',
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
    description: 'When it was added.',
    example: '2026-01-31T08:15:30.123Z',
  })
  created_at!: Date;
}

export const EXAMPLE_DOMAIN = {
  id: '0e0a5d3f-7b0a-4c55-9d6c-6a1d3c9a2f10',
  domain: 'example.com',
  created_at: '2026-01-31T08:15:30.123Z',
};
