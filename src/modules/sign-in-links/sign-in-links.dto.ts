import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  EnumProperty,
  ObjectProperty,
  TimestampProperty,
  UuidProperty,
} from '../../infrastructure/openapi/index.js';
import {
  CursorField,
  DEFAULT_PAGE_SIZE,
  NextCursorProperty,
  PageSizeField,
} from '../../infrastructure/paging/index.js';
import { enumeration } from '../../infrastructure/schemas/index.js';
import { EnvironmentField, ExternalUserIdField } from '../../infrastructure/validation/index.js';
import { AccountMerchantResponse } from '../merchant-accounts/index.js';
import { SIGN_IN_FAILURE } from '../webhooks/index.js';
import { SIGN_IN_LINK_STATUSES, type SignInLinkStatus } from './sign-in-link.entity.js';

export const EXAMPLE_LINK_ID = '0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1';

const SIGN_IN_LINK_STATUS = enumeration(
  'SignInLinkStatus',
  SIGN_IN_LINK_STATUSES,
  'The status of a sign-in link. `completed`: the account is connected. `failed`: see `failure_reason`.',
);

export class ListSignInLinksQuery {
  @EnvironmentField({
    in: 'query',
    required: false,
    description: 'That of the client, by default.',
  })
  environment?: PlatformEnvironment;

  @ExternalUserIdField({ in: 'query' })
  external_user_id!: string;

  @PageSizeField('Maximum number of links in the page.')
  limit: number = DEFAULT_PAGE_SIZE;

  @CursorField('The `next_cursor` of the previous page, for the same user.')
  cursor?: string;
}

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
    {
      nullable: true,
    },
  )
  failure_reason!: (typeof SIGN_IN_FAILURE.values)[number] | null;

  @UuidProperty('ID of the session of a completed link; otherwise null.', null, { nullable: true })
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
