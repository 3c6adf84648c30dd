import {
  EnumProperty,
  ObjectProperty,
  TextProperty,
  TimestampProperty,
  UuidProperty,
} from '../../infrastructure/openapi/index.js';
import { enumeration } from '../../infrastructure/schemas/index.js';
import { ExternalUserIdField, Field, IntegerField } from '../../infrastructure/validation/index.js';
import { AccountMerchantResponse } from '../merchant-accounts/index.js';
import { SIGN_IN_FAILURE } from '../webhooks/index.js';
import { SIGN_IN_LINK_STATUSES, type SignInLinkStatus } from './sign-in-link.entity.js';

const SIGN_IN_LINK_STATUS = enumeration(
  'SignInLinkStatus',
  SIGN_IN_LINK_STATUSES,
  'The status of a sign-in link. `completed`: the account is connected. `failed`: see `failure_reason`.',
);
const EXAMPLE_CURSOR = 'AVmXo2uFyR7Q1dJ0c3hKp1tbMTZd';
const DEFAULT_PAGE_SIZE = 25;

export class ListSignInLinksQuery {
  @ExternalUserIdField({ in: 'query' })
  external_user_id!: string;

  @IntegerField({
    in: 'query',
    required: false,
    min: 1,
    max: 50,
    default: DEFAULT_PAGE_SIZE,
    description: 'Maximum number of links in the page.',
    example: 25,
  })
  limit: number = DEFAULT_PAGE_SIZE;

  /** Accepts any text, because the service rejects invalid cursors with a separate error code. */
  @Field({
    in: 'query',
    required: false,
    schema: { type: String },
    description: 'The `next_cursor` of the previous page, for the same user.',
    example: EXAMPLE_CURSOR,
  })
  cursor?: string;
}

export class SignInLinkResponse {
  @UuidProperty('ID of the link.', '0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1')
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

  @TextProperty('Send this value as `cursor` to get the next page; null on the last page.', EXAMPLE_CURSOR, {
    nullable: true,
  })
  next_cursor!: string | null;
}
