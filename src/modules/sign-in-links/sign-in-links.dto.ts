import { INVALID_CURSOR_FORMAT } from '../../infrastructure/crypto/index.js';
import { INVALID_FIELD, TOO_MANY_REQUESTS } from '../../infrastructure/errors/index.js';
import {
  MAX_LINK_METADATA_KEYS,
  MetadataField,
  type SessionMetadata,
} from '../../infrastructure/event-catalog/index.js';
import {
  ACCEPTS_IDEMPOTENCY_KEY,
  IDEMPOTENCY_ERRORS,
  MALFORMED_KEY,
} from '../../infrastructure/idempotency/index.js';
import {
  EnumProperty,
  ObjectProperty,
  TextProperty,
  TimestampProperty,
  uuidParameter,
  UuidProperty,
  withMessages,
  type OperationDocument,
} from '../../infrastructure/openapi/index.js';
import { PageOf, UserPageQuery } from '../../infrastructure/paging/index.js';
import { enumeration } from '../../infrastructure/schemas/index.js';
import { ENVIRONMENT_ERRORS } from '../../infrastructure/surfaces/index.js';
import {
  EnumField,
  ExternalUserIdField,
  IntegerField,
  MESSAGES,
  PhoneNumberField,
  TextField,
} from '../../infrastructure/validation/index.js';
import { SIGN_IN_FAILURE } from './sign-in-links.capability.js';
import { SignInLinksConfiguration } from './sign-in-links.configuration.js';
import { AccountMerchantResponse } from '../merchant-accounts/index.js';
import { MERCHANT_NOT_FOUND, MerchantIdField, MerchantNameField } from '../merchants/index.js';
import {
  SIGN_IN_LINK_CANCELLERS,
  SIGN_IN_LINK_SOURCES,
  SIGN_IN_LINK_STATUSES,
  SIGN_IN_PROOFS,
  type SignInLinkCanceller,
  type SignInLinkSource,
  type SignInLinkStatus,
  type SignInProof,
} from './sign-in-link.entity.js';
import {
  MERCHANT_UNAVAILABLE,
  PHONE_NUMBER_UNREACHABLE,
  PREMIUM_RATE_NUMBER,
  SIGN_IN_LINK_NOT_FOUND,
} from './sign-in-links-errors.js';

const EXAMPLE_LINK_ID = '0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1';

const SIGN_IN_LINK_STATUS = enumeration(
  'SignInLinkStatus',
  SIGN_IN_LINK_STATUSES,
  'The status of a sign-in link. `completed`: the account is connected. `failed`: see `failure_reason`.',
);

const SIGN_IN_PROOF = enumeration(
  'SignInProof',
  SIGN_IN_PROOFS,
  'How the user proves who they are. `partner_login`: they log in on your login page. `phone`: the link was sent to their phone.',
);

const SIGN_IN_LINK_SOURCE = enumeration(
  'SignInLinkSource',
  SIGN_IN_LINK_SOURCES,
  'Who created a sign-in link: an agent, your backend, or a user of the dashboard.',
);

const SIGN_IN_LINK_CANCELLER = enumeration(
  'SignInLinkCanceller',
  SIGN_IN_LINK_CANCELLERS,
  'Who cancelled a sign-in link. `other_link`: the user signed in with another link. `revocation`: the agent may no longer act for the user.',
);

/** Seconds. */
export const DEFAULT_LIFETIME_SECONDS = 3_600;
const LIFETIME_SECONDS = { min: 300, max: 86_400 } as const;
const MAX_RETURN_URL_LENGTH = 2_000;

/**
 * Returns the fields of a new link that the API and the form of the dashboard have.
 *
 * @param options.in `form` for the form
 * @param MerchantField declares the merchant: its ID or, in the form, its name
 */
function linkFields<Merchant = number>(
  options: { readonly in?: 'form' } = {},
  MerchantField = MerchantIdField,
) {
  class LinkFields {
    @ExternalUserIdField(options)
    external_user_id!: string;

    @MerchantField(options)
    merchant_id!: Merchant;

    @PhoneNumberField({
      ...options,
      required: false,
      countries: 'US and Canada',
      description:
        'E.164; a valid US or Canadian number. Required for the proof `phone`, and not allowed otherwise: the link is sent there, and to nobody else.',
    })
    phone_number?: string;

    @TextField({
      ...options,
      required: false,
      max: MAX_RETURN_URL_LENGTH,
      format: 'uri',
      description:
        'Where the browser goes when the user is done, with `link_id` and `status` in the query: an `https` URL at a host that is ' +
        'listed in the settings for agents or, in development, at a loopback address. Do not trust the `status`: get the link.',
    })
    return_url?: string;

    @IntegerField({
      ...options,
      required: false,
      ...LIFETIME_SECONDS,
      default: DEFAULT_LIFETIME_SECONDS,
      description: 'Seconds until the link expires.',
      example: DEFAULT_LIFETIME_SECONDS,
    })
    expires_in?: number;
  }
  return LinkFields;
}

export class CreateSignInLinkRequest extends linkFields() {
  @EnumField(SIGN_IN_PROOF, {
    required: false,
    default: 'partner_login',
    description: 'How the person who opens the link proves to be the user.',
    example: 'partner_login',
  })
  proof?: SignInProof;

  @MetadataField('Your own values, echoed as `data.metadata` in the webhooks of this sign-in.', {
    max: MAX_LINK_METADATA_KEYS,
  })
  metadata?: SessionMetadata;
}

/** The form of the dashboard: the proof follows from the phone number. */
export class CreateSignInLinkForm extends linkFields<string>({ in: 'form' }, MerchantNameField) {}

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

  @EnumProperty(
    SIGN_IN_LINK_CANCELLER,
    'Who cancelled the link; null unless its status is `cancelled`.',
    null,
    {
      nullable: true,
    },
  )
  cancelled_by!: SignInLinkCanceller | null;

  @EnumProperty(SIGN_IN_PROOF, 'How the person who opens the link proves to be the user.', 'partner_login')
  proof!: SignInProof;

  @EnumProperty(SIGN_IN_LINK_SOURCE, 'Who created the link.', 'backend')
  source!: SignInLinkSource;

  @UuidProperty(
    'ID of the session of a completed link, which its event `AUTHENTICATED` has too; otherwise null.',
    null,
  )
  session_id!: string | null;

  @TimestampProperty('When the link was created.')
  created_at!: Date;

  @TimestampProperty('When the link expires or expired.')
  expires_at!: Date;
}

export class CreatedSignInLinkResponse extends SignInLinkResponse {
  @TextProperty(
    'Send it to the user. It opens nothing without the login of the user. Null if the link was sent to a phone.',
    `https://agents.example.com/sign-in/${EXAMPLE_LINK_ID}`,
    { format: 'uri', nullable: true },
  )
  url!: string | null;
}

export class SignInLinkListResponse extends PageOf(SignInLinkResponse, 'The links.') {}

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

const LINK_ID = { id: uuidParameter('SignInLinkIdParameter', 'The `id` of the link.', EXAMPLE_LINK_ID) };

export const CREATE_SIGN_IN_LINK: OperationDocument = {
  operationId: 'createSignInLink',
  repeatable: 'with_idempotency_key',
  ifRepeated:
    'You get another link, which counts toward the limits. With an idempotency key, you get the same link.',
  summary: 'Create sign-in link',
  description: (configurationOf) =>
    'Creates a link with which one of your users signs in to a merchant, which connects the account. Send the `url` to the user, ' +
    'for example by email. Anyone who opens it must log in on your login page, and continues only as the user of the link. With the ' +
    'proof `phone`, the service sends the link by text message instead. A user gets at most 5 links per hour, and you can create ' +
    `${configurationOf(SignInLinksConfiguration).perClientAndDay} links per day that are not sent to a phone. See \`/docs/sign-in-links\`.`,
  ...ACCEPTS_IDEMPOTENCY_KEY,
  body: CreateSignInLinkRequest,
  response: CreatedSignInLinkResponse,
  responseDescription: 'The link was created.',
  responseExample: { status: 'pending', failure_reason: null },
  errors: [
    MERCHANT_NOT_FOUND,
    MERCHANT_UNAVAILABLE,
    withMessages(PHONE_NUMBER_UNREACHABLE, PREMIUM_RATE_NUMBER),
    TOO_MANY_REQUESTS,
    ...IDEMPOTENCY_ERRORS,
  ],
};

export const GET_SIGN_IN_LINK: OperationDocument = {
  operationId: 'getSignInLink',
  summary: 'Get sign-in link',
  description:
    'Returns one of your sign-in links. Use it when the user has returned to you, or instead of the webhooks.',
  pathParameters: LINK_ID,
  response: SignInLinkResponse,
  responseDescription: 'The link.',
  errors: [withMessages(SIGN_IN_LINK_NOT_FOUND, SIGN_IN_LINK_NOT_FOUND.message)],
};

export const CANCEL_SIGN_IN_LINK: OperationDocument = {
  operationId: 'cancelSignInLink',
  ifRepeated: 'The state stays the same.',
  action: 'sign_in_link.cancel',
  repeatable: 'always',
  summary: 'Cancel sign-in link',
  description:
    'Cancels a sign-in link that is still pending, so that nobody can sign in with it. A link that has ended stays as it is. ' +
    'Publishes no event.',
  ...ACCEPTS_IDEMPOTENCY_KEY,
  pathParameters: LINK_ID,
  response: SignInLinkResponse,
  responseDescription: 'The link.',
  errors: [
    MALFORMED_KEY,
    withMessages(SIGN_IN_LINK_NOT_FOUND, SIGN_IN_LINK_NOT_FOUND.message),
    ...IDEMPOTENCY_ERRORS,
  ],
};
