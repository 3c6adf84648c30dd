import { ApiSchema } from '@nestjs/swagger';
import { INVALID_CURSOR_FORMAT } from '../../infrastructure/crypto/index.js';
import {
  EnumProperty,
  IntegerProperty,
  ObjectProperty,
  TextProperty,
  TimestampProperty,
  UuidProperty,
  type OperationDocument,
} from '../../infrastructure/openapi/index.js';
import { PageOf, UserPageQuery } from '../../infrastructure/paging/index.js';
import { ENVIRONMENT_ERRORS } from '../../infrastructure/surfaces/index.js';
import { MERCHANT_ACCOUNT_STATE, type MerchantAccountState } from './merchant-account.entity.js';

export class ListMerchantAccountsQuery extends UserPageQuery {}

/** The merchant of an account or a sign-in link. */
@ApiSchema({ description: 'A merchant.' })
export class AccountMerchantResponse {
  @IntegerProperty('ID of the merchant.', 16, { minimum: 1 })
  id!: number;

  @TextProperty('Name of the merchant.', 'Netflix', { minLength: 1 })
  name!: string;
}

/** An account of a user at a merchant. */
export class MerchantAccountResponse {
  @ObjectProperty(AccountMerchantResponse, 'The merchant.')
  merchant!: AccountMerchantResponse;

  @EnumProperty(MERCHANT_ACCOUNT_STATE, 'Whether the user must sign in again.', 'connected')
  state!: MerchantAccountState;

  @TimestampProperty('When the user last signed in, or when the account was disconnected.')
  since!: Date;

  @UuidProperty(
    'The session in which the user last signed in; null if it is not known.',
    'fb5aa994-ed1c-4c3e-b29a-b2a53222e584',
    { nullable: true },
  )
  session_id!: string | null;
}

export class MerchantAccountPage extends PageOf(MerchantAccountResponse, 'The accounts.') {}

/** The topic of all operations for merchant accounts, including that of the module merchant-gateway. */
export const MERCHANT_ACCOUNTS_TOPIC = [
  'Merchant accounts',
  'Accounts of your users at merchants: whether they are connected, and since when.',
  40,
] as const;

export const LIST_MERCHANT_ACCOUNTS: OperationDocument = {
  operationId: 'listMerchantAccounts',
  summary: 'List merchant accounts',
  description:
    'Returns the accounts at merchants that one of your users has signed in to. Use it to find out where the user must ' +
    'sign in again.',
  response: MerchantAccountPage,
  responseDescription: 'A page of the user’s accounts.',
  errors: [INVALID_CURSOR_FORMAT, ...ENVIRONMENT_ERRORS],
};
