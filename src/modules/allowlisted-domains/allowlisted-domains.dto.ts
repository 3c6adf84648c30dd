import { Constraint, TextField, withMessage } from '../../infrastructure/validation/index.js';
import { domainName, MAX_NAME_LENGTH } from './domain-name.js';

/** Returns the content of the TXT record that proves a domain. The ID makes it a proof for one organization only. */
export function proofRecord(id: string): string {
  return `merchant-connectivity-verification=${id}`;
}

function IsDomain(): PropertyDecorator {
  return Constraint(
    'isDomain',
    (value) => domainName(value as string) !== undefined,
    withMessage((field) => `The ${field} field must be a domain name such as example.com.`),
  );
}

/** A domain whose email addresses users may have. */
export class AddDomainRequest {
  /** International names may be in Unicode. */
  @TextField({ in: 'form', max: MAX_NAME_LENGTH, isTrimmed: true }, IsDomain())
  domain!: string;
}
