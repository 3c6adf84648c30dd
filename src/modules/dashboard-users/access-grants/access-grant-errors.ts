import { ErrorKind } from '../../../infrastructure/errors/index.js';

export const ACCESS_GRANT_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  label: 'AccessGrantNotFound',
  when: 'The organization has no access grant with this ID.',
  message: 'There is no access grant with this ID.',
});

export const ONLY_OWNERS_GRANT_OWNER = 'Only an owner may grant or revoke the role owner.';
export const CANNOT_GRANT_TO_YOURSELF = 'You cannot grant access to yourself.';
export const ROLE_ALREADY_SUFFICIENT = 'The user already has this role or a higher one.';
/** Maximum number of grants in a list. */
export const MAX_GRANTS = 200;
