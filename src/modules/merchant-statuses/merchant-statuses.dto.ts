import {
  EnumProperty,
  IntegerProperty,
  TimestampProperty,
  type OperationDocument,
} from '../../infrastructure/openapi/index.js';
import { EnumField } from '../../infrastructure/validation/index.js';
import { MERCHANT_SESSION_TYPES, SESSION_TYPE } from '../../infrastructure/event-catalog/index.js';
import { MERCHANT_STATUS, MERCHANT_STATUSES } from './merchant-statuses.capability.js';
import { MERCHANT_ID_PARAMETER, MERCHANT_NOT_FOUND } from '../merchants/index.js';

export class SetMerchantStatusRequest {
  @EnumField(SESSION_TYPE, { description: 'The type of session.', example: 'card_switcher' })
  type!: (typeof MERCHANT_SESSION_TYPES)[number];

  @EnumField(MERCHANT_STATUS, { description: 'Whether sessions of this type work.', example: 'DOWN' })
  status!: (typeof MERCHANT_STATUSES)[number];
}

export class MerchantStatusResponse {
  @IntegerProperty('ID of the merchant.', 16, { minimum: 1 })
  merchant_id!: number;

  @EnumProperty(SESSION_TYPE, 'The type of session.', 'card_switcher')
  type!: (typeof MERCHANT_SESSION_TYPES)[number];

  @EnumProperty(MERCHANT_STATUS, 'Whether sessions of this type work.', 'DOWN')
  status!: (typeof MERCHANT_STATUSES)[number];

  @IntegerProperty('Number of clients for which the event has been published.', 118, { minimum: 0 })
  published!: number;

  @TimestampProperty('When the status changed.')
  requested_at!: Date;

  @TimestampProperty(
    'When the event had been published for all clients; null while that is in progress.',
    null,
  )
  finished_at!: Date | null;
}

export const SET_MERCHANT_STATUS: OperationDocument = {
  operationId: 'setMerchantStatus',
  ifRepeated: 'A status that is already set publishes nothing.',
  summary: 'Set the status of a merchant',
  description:
    'Publishes `MERCHANT_STATUS_UPDATE` to every client that does not hide the merchant, in the background. Use it ' +
    'when sessions of a type stop working at the merchant, or work again. If the status is already set, nothing is ' +
    'published again, so retries are safe. If the status changes while clients are being notified, the notification ' +
    'starts again with the new status.',
  pathParameters: MERCHANT_ID_PARAMETER,
  body: SetMerchantStatusRequest,
  status: 202,
  response: MerchantStatusResponse,
  responseDescription: 'The status is set. Clients are being notified, or have been notified.',
  errors: [MERCHANT_NOT_FOUND],
};

export const LIST_MERCHANT_STATUSES: OperationDocument = {
  operationId: 'listMerchantStatuses',
  summary: 'List the statuses of a merchant',
  description:
    'Returns the last status of each type of session, and how many clients have been notified of it. Use it to follow ' +
    'the progress of a notification. Types whose status was never set are absent.',
  pathParameters: MERCHANT_ID_PARAMETER,
  response: [MerchantStatusResponse],
  responseDescription: 'The statuses.',
  errors: [MERCHANT_NOT_FOUND],
};
