import type { OperationDocument } from '../../../infrastructure/openapi/index.js';
import { CurrentUserResponse } from './current-user.dto.js';

export const GET_CURRENT_USER: OperationDocument = {
  operationId: 'getCurrentUser',
  summary: 'Get current user',
  description:
    'Returns the authenticated user and the scopes of the access token. Use it to check whether a token works.',
  response: CurrentUserResponse,
  responseDescription: 'The authenticated user.',
  errors: [],
};
