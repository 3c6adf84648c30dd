import { ACCEPTS_IDEMPOTENCY_KEY, IDEMPOTENCY_ERRORS } from '../../infrastructure/idempotency/index.js';
import {
  EnumProperty,
  IntegerProperty,
  TimestampProperty,
  type OperationDocument,
} from '../../infrastructure/openapi/index.js';
import { enumeration } from '../../infrastructure/schemas/index.js';
import { ExternalUserIdField } from '../../infrastructure/validation/index.js';
import { ERASURE_NOT_FOUND } from './external-users-errors.js';
import type { UserErasure } from './user-erasure.entity.js';

const ERASURE_STATUS = enumeration(
  'UserErasureStatus',
  ['running', 'finished'] as const,
  'Whether the erasure is still running.',
);

export class ExternalUserPath {
  @ExternalUserIdField({ in: 'path' })
  external_user_id!: string;
}

export class EraseUserRequest {
  @ExternalUserIdField()
  external_user_id!: string;
}

export class ErasureQuery {
  @ExternalUserIdField({ in: 'query' })
  external_user_id!: string;
}

export class UserErasureResponse {
  @EnumProperty(ERASURE_STATUS, 'Whether everything is erased.', 'running')
  status!: (typeof ERASURE_STATUS.values)[number];

  @IntegerProperty('Number of records that were erased, or that no longer name the user.', 12, {
    format: 'int64',
    minimum: 0,
  })
  erased!: number;

  @TimestampProperty('When the erasure was last requested.')
  requested_at!: Date;

  @TimestampProperty('When the erasure was finished; null while it is running.', undefined, {
    nullable: true,
  })
  finished_at!: Date | null;
}

export function toErasureResponse({ erased, requestedAt, finishedAt }: UserErasure): UserErasureResponse {
  return {
    status: finishedAt ? 'finished' : 'running',
    erased: Number(erased),
    requested_at: requestedAt,
    finished_at: finishedAt,
  };
}

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
  action: 'external_user.erase',
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
  repeatable: 'always',
  ifRepeated:
    'The erasure starts over. With an idempotency key, it does not, and you get the first response.',
  summary: 'Erase a user, named in the body',
  description:
    'Does the same as "Erase a user", for every identifier: in a path, some characters have a meaning of their own.',
  ...ACCEPTS_IDEMPOTENCY_KEY,
  body: EraseUserRequest,
  response: UserErasureResponse,
  responseDescription: 'The erasure is running.',
  status: 202,
  errors: [...IDEMPOTENCY_ERRORS],
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
