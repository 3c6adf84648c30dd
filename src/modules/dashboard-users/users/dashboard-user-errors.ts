import { ErrorKind } from '../../../infrastructure/errors/index.js';

export const USER_NOT_FOUND = new ErrorKind(404, 'USER_ERROR', 'USER_NOT_FOUND', {
  when: 'The organization has no user with this ID.',
  message: 'There is no user with this ID.',
});

export const OWNERS_ONLY = 'Only an owner may add, change or remove an owner.';
export const EMAIL_TAKEN = 'The email has already been taken.';
export const DOMAIN_NOT_ALLOWED = 'The email field must belong to an allowlisted domain.';
export const CANNOT_CHANGE_OWN_ROLE = 'You cannot change your own role.';
export const CANNOT_DISABLE_YOURSELF = 'You cannot disable yourself.';
export const CANNOT_REMOVE_YOURSELF = 'You cannot remove yourself.';
export const LAST_OWNER =
  'This is the last active owner of the organization: make another user an owner first.';
export const MAX_USERS = 1_000;
export const TOO_MANY_USERS = `The organization already has the maximum of ${MAX_USERS} users.`;
