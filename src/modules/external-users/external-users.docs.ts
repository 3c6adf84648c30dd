import type { OperationDocument } from '../../infrastructure/openapi/index.js';
import { EraseUserRequest, UserErasureResponse } from './user-erasures.dto.js';
import { ERASURE_NOT_FOUND } from './user-erasures.service.js';

const USER_IN_PATH = {
  external_user_id: {
    component: 'ExternalUserIdParameter',
    schema: 'externalUserId',
    description: 'Your own identifier for the user, percent-encoded.',
    example: 'user-8f3a',
  },
} as const;

export const ERASE_EXTERNAL_USER: OperationDocument = {
  operationId: 'eraseExternalUser',
  summary: 'Erase a user',
  description:
    'Erases everything that is stored about one of your users in the environment of the credentials: see ' +
    '`/docs/erasing-users`. MCP tokens of the user stop working before the response is sent. The rest is erased in the ' +
    'background, which takes at least a minute. Until then, data that you send about the user are erased too. You can repeat the ' +
    'request, also for a user who is not known. Clients and proxies change some paths: for identifiers such as `..`, or with ' +
    'slashes, use "Erase a user, named in the body".',
  pathParameters: USER_IN_PATH,
  response: UserErasureResponse,
  responseDescription: 'The erasure is running.',
  status: 202,
  errors: [],
};

export const ERASE_USER: OperationDocument = {
  operationId: 'eraseUser',
  summary: 'Erase a user, named in the body',
  description:
    'Does the same as "Erase a user", for every identifier: in a path, some characters have a meaning of their own.',
  body: EraseUserRequest,
  response: UserErasureResponse,
  responseDescription: 'The erasure is running.',
  status: 202,
  errors: [],
};

export const FIND_ERASURE: OperationDocument = {
  operationId: 'findUserErasure',
  summary: 'Get the erasure of a user, named in the query',
  description: 'Does the same as "Get the erasure of a user", for every identifier.',
  response: UserErasureResponse,
  responseDescription: 'The last erasure of the user.',
  responseExample: { status: 'finished', finished_at: '2026-01-31T08:16:31.412Z' },
  errors: [ERASURE_NOT_FOUND],
};

export const GET_ERASURE: OperationDocument = {
  operationId: 'getUserErasure',
  summary: 'Get the erasure of a user',
  description:
    'Returns the progress of the last erasure of a user, for up to a year after it is finished. Use it to find out when ' +
    'nothing is stored about the user anymore.',
  pathParameters: USER_IN_PATH,
  response: UserErasureResponse,
  responseDescription: 'The last erasure of the user.',
  responseExample: { status: 'finished', finished_at: '2026-01-31T08:16:31.412Z' },
  errors: [ERASURE_NOT_FOUND],
};
