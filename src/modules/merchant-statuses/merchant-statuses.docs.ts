import type { OperationDocument } from '../../infrastructure/openapi/index.js';
import { MERCHANT_ID_PARAMETER, MERCHANT_NOT_FOUND } from '../merchants/index.js';
import { MerchantStatusResponse, SetMerchantStatusRequest } from './merchant-statuses.dto.js';

export const SET_MERCHANT_STATUS: OperationDocument = {
  operationId: 'setMerchantStatus',
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
