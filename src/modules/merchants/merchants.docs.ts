import type { OperationDocument } from '../../infrastructure/openapi/index.js';
import { ENVIRONMENT_ERRORS } from '../../infrastructure/surfaces/index.js';
import { MERCHANT_NOT_FOUND } from './merchant-catalog.service.js';
import { MAX_MERCHANTS } from './merchants.service.js';
import { ChangeMerchantVisibilityRequest, MerchantResponse } from './merchants.dto.js';

/** The path parameter of operations on one merchant. */
export const MERCHANT_ID_PARAMETER = {
  id: {
    component: 'MerchantIdParameter',
    schema: 'integer',
    description: 'The `id` of the merchant.',
    example: 16,
  },
} as const;

export const LIST_MERCHANTS: OperationDocument = {
  operationId: 'listMerchants',
  summary: 'List merchants',
  description:
    `Returns at most ${MAX_MERCHANTS} merchants, sorted by name, and whether your organization hides them. Use it to find ` +
    `the IDs of merchants, and to show your users which merchants they can choose. Requires the Basic ` +
    'credentials of a client, or the login of any user. The dashboard API serves it too.',
  response: [MerchantResponse],
  responseDescription: 'The merchants.',
  errors: ENVIRONMENT_ERRORS,
};

export const EXPORT_MERCHANTS: OperationDocument = {
  operationId: 'exportMerchants',
  summary: 'Export merchants',
  description:
    'Returns the list of merchants as CSV with the columns `id`, `name` and `hidden`. Use it to open the list in a ' +
    'spreadsheet. Names that a spreadsheet would interpret as a formula start with an apostrophe. Available to admins ' +
    'and owners. Audited as `merchant.export`, every time.',
  response: String,
  responseType: 'text/csv',
  responseDescription: 'The list, with a header line.',
  responseExample: 'id,name,hidden\n16,Netflix,false\n',
  errors: [],
};

export const HIDE_MERCHANT: OperationDocument = {
  operationId: 'hideMerchant',
  summary: 'Hide a merchant',
  description:
    `Hides a merchant. Use it for merchants that your users should not see. Available to admins and owners. ` +
    'Audited as `merchant.hide` only if something changes.',
  pathParameters: MERCHANT_ID_PARAMETER,
  body: ChangeMerchantVisibilityRequest,
  response: MerchantResponse,
  responseDescription: 'The merchant is hidden.',
  responseExample: { hidden: true },
  errors: [MERCHANT_NOT_FOUND],
};

export const SHOW_MERCHANT: OperationDocument = {
  operationId: 'activateMerchant',
  summary: 'Show a merchant again',
  description:
    `Shows a hidden merchant again. Use it for merchants that your users should see again. Available to ` +
    'admins and owners. Audited as `merchant.activate` only if something changes.',
  pathParameters: MERCHANT_ID_PARAMETER,
  body: ChangeMerchantVisibilityRequest,
  response: MerchantResponse,
  responseDescription: 'The merchant is visible.',
  errors: [MERCHANT_NOT_FOUND],
};
