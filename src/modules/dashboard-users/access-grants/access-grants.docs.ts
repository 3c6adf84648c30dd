import { INSUFFICIENT_ROLE, INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import {
  withMessages,
  withSharedMessages,
  uuidParameter,
  type OperationDocument,
} from '../../../infrastructure/openapi/index.js';
import { USER_NOT_FOUND } from '../users/user-administration.service.js';
import { AccessGrantResponse, CreateAccessGrantRequest, EXAMPLE_GRANT_ID } from './access-grants.dto.js';
import {
  ACCESS_GRANT_NOT_FOUND,
  CANNOT_GRANT_TO_YOURSELF,
  MAX_GRANTS,
  ONLY_OWNERS_GRANT_OWNER,
  ROLE_ALREADY_SUFFICIENT,
} from './access-grants.service.js';

const ONLY_OWNERS = withSharedMessages('OnlyOwnersGrantOwner', INSUFFICIENT_ROLE, ONLY_OWNERS_GRANT_OWNER);

export const LIST_ACCESS_GRANTS: OperationDocument = {
  operationId: 'listAccessGrants',
  summary: 'List access grants',
  description:
    'Returns the users who have, or had, a higher role for a limited time: current grants first, then the newest, at ' +
    `most ${MAX_GRANTS}. Use it to see who has extra rights, and until when. Available to admins and owners.`,
  response: [AccessGrantResponse],
  responseDescription: 'The grants.',
  errors: [],
};

export const CREATE_ACCESS_GRANT: OperationDocument = {
  operationId: 'createAccessGrant',
  summary: 'Grant privileged access',
  description:
    'Gives a user a higher role until the grant expires or is revoked. Use it when a user needs a higher role for a ' +
    'task, but not permanently. You cannot grant access to yourself. Available to admins and owners; only an owner can ' +
    'grant `owner`. Audited as `access_grant.create`.',
  body: CreateAccessGrantRequest,
  response: AccessGrantResponse,
  responseDescription: 'The grant is in force.',
  errors: [
    withMessages(INVALID_FIELD, CANNOT_GRANT_TO_YOURSELF, ROLE_ALREADY_SUFFICIENT),
    ONLY_OWNERS,
    USER_NOT_FOUND,
  ],
};

export const REVOKE_ACCESS_GRANT: OperationDocument = {
  operationId: 'revokeAccessGrant',
  summary: 'Revoke an access grant',
  description:
    'Ends a grant immediately. Use it when the task is done early. If the grant has already ended, the response is the ' +
    'same and nothing changes. Available to admins and owners; only an owner can revoke `owner`. Audited as ' +
    '`access_grant.revoke`.',
  pathParameters: { id: uuidParameter('AccessGrantIdParameter', 'The `id` of the grant.', EXAMPLE_GRANT_ID) },
  response: AccessGrantResponse,
  responseDescription: 'The ended grant.',
  responseExample: { revoked_at: '2026-01-31T09:00:00.000Z', active: false },
  errors: [ONLY_OWNERS, ACCESS_GRANT_NOT_FOUND],
};
