import type { OperationDocument } from '../../infrastructure/openapi/index.js';
import { ACCEPTS_IDEMPOTENCY_KEY, IDEMPOTENCY_ERRORS } from '../../infrastructure/idempotency/index.js';
import { ExternalUserIdField } from '../../infrastructure/validation/index.js';
import {
  MERCHANT_ACCOUNT_DISCONNECTED,
  MERCHANT_ACCOUNT_NOT_FOUND,
  MerchantAccountResponse,
} from '../merchant-accounts/index.js';
import { MerchantIdField } from '../merchants/index.js';

export class UnlinkAccountRequest {
  @ExternalUserIdField()
  external_user_id!: string;

  @MerchantIdField()
  merchant_id!: number;
}

export const UNLINK_ACCOUNT: OperationDocument = {
  operationId: 'unlinkAccount',
  repeatable: 'always',
  ifRepeated:
    'The state stays the same. With an idempotency key, an account that was linked again meanwhile stays connected.',
  summary: 'Unlink an account',
  description:
    'Disconnects an account of one of your users, and ends the sign-in at the merchant. Use it when the user no longer ' +
    'wants the account to be connected. No webhook is sent.',
  ...ACCEPTS_IDEMPOTENCY_KEY,
  body: UnlinkAccountRequest,
  response: MerchantAccountResponse,
  responseDescription: 'The account is disconnected.',
  responseExample: { state: 'disconnected' },
  errors: [MERCHANT_ACCOUNT_NOT_FOUND, MERCHANT_ACCOUNT_DISCONNECTED, ...IDEMPOTENCY_ERRORS],
};
