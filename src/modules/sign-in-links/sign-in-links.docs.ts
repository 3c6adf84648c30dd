import { INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { withMessages, type OperationDocument } from '../../infrastructure/openapi/index.js';
import { INVALID_CURSOR_FORMAT } from '../../infrastructure/crypto/index.js';
import { MESSAGES } from '../../infrastructure/validation/index.js';
import { SignInLinkListResponse } from './sign-in-links.dto.js';

export const LIST_SIGN_IN_LINKS: OperationDocument = {
  operationId: 'listSignInLinks',
  summary: 'List sign-in links',
  description:
    'Returns the sign-in links of one of your users from the last week, the newest first. Use it to find out whether the ' +
    'user has signed in.',
  response: SignInLinkListResponse,
  responseDescription: 'A page of the user’s links.',
  errors: [withMessages(INVALID_FIELD, MESSAGES.required('external user id')), INVALID_CURSOR_FORMAT],
};
