import { ErrorKind } from '../../../infrastructure/errors/index.js';

export const ACCESS_GRANT_NOT_FOUND = new ErrorKind({
  status: 404,
  type: 'INVALID_REQUEST',
  code: 'NOT_FOUND',
  when: 'The organization has no access grant with this id.',
  message: 'There is no access grant with this id.',
});

export const OWNER_GRANTS_BY_OWNERS = 'Only an owner may grant or revoke the role owner.';
export const NOT_TO_YOURSELF = 'You cannot grant access to yourself.';
export const ROLE_IS_ENOUGH = 'The role of the user allows as much already.';
/** The most grants that a list shows. */
export const MOST_GRANTS = 200;
