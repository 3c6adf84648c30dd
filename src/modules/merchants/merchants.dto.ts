import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import {
  BooleanProperty,
  IntegerProperty,
  TextProperty,
  type OperationDocument,
} from '../../infrastructure/openapi/index.js';
import { ENVIRONMENT_ERRORS } from '../../infrastructure/surfaces/index.js';
import { EnvironmentField, IntegerField, TextField } from '../../infrastructure/validation/index.js';
import { MAX_MERCHANT_ID } from './merchant-catalog.service.js';

const ENVIRONMENT = 'Each environment has its own hidden merchants.';

export class ListMerchantsQuery {
  @EnvironmentField({
    in: 'query',
    required: false,
    description: `${ENVIRONMENT} That of the client, by default.`,
  })
  environment?: PlatformEnvironment;
}

/** The ID of a merchant in a request. */
export function MerchantIdField(
  options: { readonly required?: false; readonly in?: 'form' } = {},
): PropertyDecorator {
  const description = 'ID of the merchant.';
  return IntegerField({ ...options, min: 1, max: MAX_MERCHANT_ID, description, example: 16 });
}

/** The name of a merchant, or its ID, in a form of the dashboard. */
export function MerchantNameField(): PropertyDecorator {
  return TextField({ in: 'form', max: 256 });
}

export class MerchantResponse {
  @IntegerProperty('ID of the merchant.', 16, { minimum: 1 })
  id!: number;

  @TextProperty('Name of the merchant.', 'Netflix', { minLength: 1 })
  name!: string;

  @BooleanProperty('Whether your organization hides the merchant.', false)
  hidden!: boolean;
}

export const MERCHANT_ID_PARAMETER = {
  id: {
    component: 'MerchantIdParameter',
    schema: 'integer',
    description: 'The `id` of the merchant.',
    example: 16,
  },
} as const;

/** Maximum number of merchants in a list. The catalog has a few hundred. */
export const MAX_MERCHANTS = 10_000;

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
