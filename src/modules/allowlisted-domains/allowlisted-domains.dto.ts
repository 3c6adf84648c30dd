import { TextProperty, TimestampProperty, UuidProperty } from '../../infrastructure/openapi/index.js';
import { Constraint, TextField, withMessage } from '../../infrastructure/validation/index.js';
import { domainName } from './domain-name.js';

export const EXAMPLE_ID = '0e0a5d3f-7b0a-4c55-9d6c-6a1d3c9a2f10';
const MAX_DOMAIN_LENGTH = 253;

function IsDomain(): PropertyDecorator {
  return Constraint(
    'isDomain',
    (value) => domainName(value as string) !== undefined,
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
  @UuidProperty('ID of the entry.', EXAMPLE_ID)
  id!: string;

  @TextProperty('The domain, in lower case and ASCII (IDNA).', 'example.com')
  domain!: string;

  @TimestampProperty('When the domain was added.')
  created_at!: Date;
}
