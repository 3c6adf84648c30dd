import { INSUFFICIENT_ROLE, INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import {
  withMessages,
  withSharedMessages,
  uuidParameter,
  type OperationDocument,
} from '../../../infrastructure/openapi/index.js';
import {
  CANNOT_CHANGE_OWN_ROLE,
  CANNOT_DISABLE_YOURSELF,
  CANNOT_REMOVE_YOURSELF,
  DOMAIN_NOT_ALLOWED,
  EMAIL_TAKEN,
  INVITATIONS_PER_MAILBOX,
  LAST_BREAK_GLASS_OWNER,
  LAST_OWNER,
  MAX_USERS,
  OWNERS_ONLY,
  TOO_MANY_USERS,
  USER_NOT_FOUND,
} from './user-administration.service.js';
import { CreateUserRequest, EXAMPLE_USER_ID, UpdateUserRequest, UserResponse } from './users.dto.js';

const ONLY_OWNERS = withSharedMessages('OnlyOwners', INSUFFICIENT_ROLE, OWNERS_ONLY);
const ID = { id: uuidParameter('UserIdParameter', 'The `id` of the user.', EXAMPLE_USER_ID) };

export const LIST_USERS: OperationDocument = {
  operationId: 'listUsers',
  summary: 'List users',
  description:
    'Returns the dashboard users of your organization, including invited and disabled users, in the order in which ' +
    'they were added. Use it to see who has access, and to find the IDs that other operations require. An organization ' +
    `can have at most ${MAX_USERS} users. Available to admins and owners.`,
  response: [UserResponse],
  responseDescription: 'All users of the organization.',
  errors: [],
};

export const CREATE_USER: OperationDocument = {
  operationId: 'createUser',
  summary: 'Invite a user',
  description:
    'Adds a user to your organization and sends them an invitation by email. They can log in after they set a ' +
    'password. Use it to give a colleague access. If the organization has allowlisted domains, the email address must ' +
    'belong to one of them. At most ' +
    `${INVITATIONS_PER_MAILBOX} invitations a day go to a mailbox, and ${MAX_USERS} in total. Available to ` +
    'admins and owners; only an owner can invite owners. Audited as `user.add`.',
  body: CreateUserRequest,
  response: UserResponse,
  responseDescription: 'The user was added and invited.',
  errors: [withMessages(INVALID_FIELD, DOMAIN_NOT_ALLOWED, EMAIL_TAKEN, TOO_MANY_USERS), ONLY_OWNERS],
};

export const UPDATE_USER: OperationDocument = {
  operationId: 'updateUser',
  summary: 'Change a user',
  description:
    'Changes the name or role of a user, or disables the user (`disabled`), which ends their logins immediately. A ' +
    'new role and disabling the user end the user’s access tokens and device approvals. Use it when the tasks of a user change or a user should not log in for now. Absent fields keep their values. You ' +
    'cannot change your own role or disable yourself, and at least one active owner must remain. Available to admins ' +
    'and owners; only an owner can change owners or assign `owner`. Audited as `user.update` if something changed.',
  pathParameters: ID,
  body: UpdateUserRequest,
  response: UserResponse,
  responseDescription: 'The updated user.',
  errors: [
    withMessages(
      INVALID_FIELD,
      CANNOT_CHANGE_OWN_ROLE,
      CANNOT_DISABLE_YOURSELF,
      LAST_OWNER,
      LAST_BREAK_GLASS_OWNER,
    ),
    ONLY_OWNERS,
    USER_NOT_FOUND,
  ],
};

export const DELETE_USER: OperationDocument = {
  operationId: 'deleteUser',
  summary: 'Remove a user',
  description:
    'Removes a user permanently, with their logins and access grants. Use it when someone leaves. You cannot remove ' +
    'yourself, and at least one active owner must remain. Available to admins and owners; only an owner can remove ' +
    'owners. Audited as `user.remove`.',
  pathParameters: ID,
  response: UserResponse,
  responseDescription: 'The removed user.',
  errors: [
    withMessages(INVALID_FIELD, CANNOT_REMOVE_YOURSELF, LAST_OWNER, LAST_BREAK_GLASS_OWNER),
    ONLY_OWNERS,
    USER_NOT_FOUND,
  ],
};
