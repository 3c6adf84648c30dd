import type { OperationDocument } from '../../infrastructure/openapi/index.js';
import { ENVIRONMENT_ERRORS } from '../../infrastructure/surfaces/index.js';
import { MAX_MERCHANTS } from './merchants.service.js';
import { MerchantResponse } from './merchants.dto.js';

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
    `the IDs of merchants, and to show your users which merchants they can choose.`,
  response: [MerchantResponse],
  responseDescription: 'The merchants.',
  errors: ENVIRONMENT_ERRORS,
};
