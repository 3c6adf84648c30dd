import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { withMessages, uuidParameter, type OperationDocument } from '../../infrastructure/openapi/index.js';
import { AddDomainRequest, AllowlistedDomainResponse, EXAMPLE_ID } from './allowlisted-domains.dto.js';
import {
  ALLOWLISTED_DOMAIN_NOT_FOUND,
  DOMAIN_TAKEN,
  MAX_DOMAINS,
  TOO_MANY_DOMAINS,
} from './allowlisted-domains.service.js';

export const LIST_DOMAINS: OperationDocument = {
  operationId: 'listAllowlistedDomains',
  summary: 'List allowlisted domains',
  description:
    'Returns the email domains from which users can be invited, in alphabetical order. Use it to see whom you can ' +
    'invite. If the list is empty, users of any domain can be invited. An organization can have at most ' +
    `${MAX_DOMAINS} domains. Available to admins and owners.`,
  response: [AllowlistedDomainResponse],
  responseDescription: 'All domains of the allowlist.',
  errors: [],
};

export const ADD_DOMAIN: OperationDocument = {
  operationId: 'createAllowlistedDomain',
  summary: 'Add a domain to the allowlist',
  description:
    'Restricts invitations to email addresses of the domains on the allowlist; existing users stay. Use it to limit ' +
    'invitations to your company. A domain does not include its subdomains: add each subdomain that you need. ' +
    'Available to admins and owners. Audited as `domain.add`.',
  body: AddDomainRequest,
  response: AllowlistedDomainResponse,
  responseDescription: 'The domain is on the allowlist.',
  errors: [withMessages(INVALID_FIELD, DOMAIN_TAKEN, TOO_MANY_DOMAINS)],
};

export const REMOVE_DOMAIN: OperationDocument = {
  operationId: 'deleteAllowlistedDomain',
  summary: 'Remove a domain from the allowlist',
  description:
    'Removes a domain; existing users of the domain stay. Use it when a domain no longer belongs to you. After the ' +
    'last domain is removed, users of any domain can be invited again. Available to admins and owners. Audited as ' +
    '`domain.remove`.',
  pathParameters: {
    id: uuidParameter('AllowlistedDomainIdParameter', 'The `id` of the domain.', EXAMPLE_ID),
  },
  response: AllowlistedDomainResponse,
  responseDescription: 'The removed domain.',
  errors: [ALLOWLISTED_DOMAIN_NOT_FOUND],
};
