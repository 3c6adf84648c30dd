import { INVALID_CURSOR_FORMAT } from '../../infrastructure/crypto/index.js';
import { ErrorKind, INVALID_FIELD } from '../../infrastructure/errors/index.js';
import { uuidParameter, withMessages, type OperationDocument } from '../../infrastructure/openapi/index.js';
import { MESSAGES } from '../../infrastructure/validation/index.js';
import { ENVIRONMENT_ERRORS } from '../../infrastructure/surfaces/index.js';
import { EXAMPLE_LINK_ID, SignInLinkListResponse, SignInLinkResponse } from './sign-in-links.dto.js';

export const SIGN_IN_LINK_NOT_FOUND = new ErrorKind(404, 'INVALID_REQUEST', 'NOT_FOUND', {
  label: 'SignInLinkNotFound',
  when: 'The user has no sign-in link with this ID. Links are deleted a week after they expire.',
  message: 'There is no sign-in link with this ID.',
});

export const LIST_SIGN_IN_LINKS: OperationDocument = {
  operationId: 'listSignInLinks',
  summary: 'List sign-in links',
  description:
    'Returns the sign-in links of one of your users from the last week, the newest first. Use it to find out whether the ' +
    'user has signed in.',
  response: SignInLinkListResponse,
  responseDescription: 'A page of the user’s links.',
  errors: [
    withMessages(INVALID_FIELD, MESSAGES.required('external user id')),
    INVALID_CURSOR_FORMAT,
    ...ENVIRONMENT_ERRORS,
  ],
};

export const CANCEL_SIGN_IN_LINK: OperationDocument = {
  operationId: 'cancelSignInLink',
  summary: 'Cancel sign-in link',
  description:
    'Cancels a sign-in link that is still pending, so that nobody can sign in with it. A link that has ended stays as it is. ' +
    'Publishes no event.',
  pathParameters: {
    id: uuidParameter('SignInLinkIdParameter', 'The `id` of the link.', EXAMPLE_LINK_ID),
  },
  response: SignInLinkResponse,
  responseDescription: 'The link.',
  errors: [withMessages(SIGN_IN_LINK_NOT_FOUND, SIGN_IN_LINK_NOT_FOUND.message)],
};
