import { INVALID_CURSOR_FORMAT } from '../../infrastructure/crypto/index.js';
import { ErrorKind, INVALID_FIELD } from '../../infrastructure/errors/index.js';
import {
  EnumProperty,
  ObjectProperty,
  TimestampProperty,
  uuidParameter,
  UuidProperty,
  withMessages,
  type OperationDocument,
} from '../../infrastructure/openapi/index.js';
import { NextCursorProperty, UserPageQuery } from '../../infrastructure/paging/index.js';
import { enumeration } from '../../infrastructure/schemas/index.js';
import { ENVIRONMENT_ERRORS } from '../../infrastructure/surfaces/index.js';
import { MESSAGES } from '../../infrastructure/validation/index.js';
import { SIGN_IN_FAILURE } from '../../infrastructure/event-catalog/index.js';
import { AccountMerchantResponse } from '../merchant-accounts/index.js';
import { SIGN_IN_LINK_STATUSES, type SignInLinkStatus } from './sign-in-link.entity.js';

const EXAMPLE_LINK_ID = '0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1';

const SIGN_IN_LINK_STATUS = enumeration(
  'SignInLinkStatus',
  SIGN_IN_LINK_STATUSES,
  'The status of a sign-in link. `completed`: the account is connected. `failed`: see `failure_reason`.',
);

export class ListSignInLinksQuery extends UserPageQuery {}

export class SignInLinkResponse {
  @UuidProperty('ID of the link.', EXAMPLE_LINK_ID)
  id!: string;

  @ObjectProperty(AccountMerchantResponse, 'The merchant.')
  merchant!: AccountMerchantResponse;

  @EnumProperty(SIGN_IN_LINK_STATUS, 'The status of the link.', 'failed')
  status!: SignInLinkStatus;

  @EnumProperty(
    SIGN_IN_FAILURE,
    'Why the link failed; null unless its status is `failed`.',
    'too_many_attempts',
    { nullable: true },
  )
  failure_reason!: (typeof SIGN_IN_FAILURE.values)[number] | null;

  @UuidProperty('ID of the session of a completed link; otherwise null.', null)
  session_id!: string | null;

  @TimestampProperty('When the link was created.')
  created_at!: Date;

  @TimestampProperty('When the link expires or expired.')
  expires_at!: Date;
}

export class SignInLinkListResponse {
  @ObjectProperty([SignInLinkResponse], 'The links.')
  data!: SignInLinkResponse[];

  @NextCursorProperty()
  next_cursor!: string | null;
}

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
  pathParameters: { id: uuidParameter('SignInLinkIdParameter', 'The `id` of the link.', EXAMPLE_LINK_ID) },
  response: SignInLinkResponse,
  responseDescription: 'The link.',
  errors: [withMessages(SIGN_IN_LINK_NOT_FOUND, SIGN_IN_LINK_NOT_FOUND.message)],
};
