import { ErrorKind } from '../../infrastructure/errors/index.js';

export const ALLOWLISTED_DOMAIN_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  label: 'AllowlistedDomainNotFound',
  when: 'The allowlist of the organization has no domain with this ID.',
  message: 'There is no allowlisted domain with this ID.',
});

export const DOMAIN_TAKEN = 'The domain has already been added.';
export const MAX_DOMAINS = 100;
export const TOO_MANY_DOMAINS = `The allowlist already has the maximum of ${MAX_DOMAINS} domains.`;
