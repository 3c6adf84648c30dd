import { BooleanProperty, IntegerProperty, TextProperty } from '../../infrastructure/openapi/index.js';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { EnvironmentField } from '../../infrastructure/validation/index.js';

const ENVIRONMENT = 'Each environment has its own hidden merchants.';

export class ListMerchantsQuery {
  @EnvironmentField({
    in: 'query',
    required: false,
    description: `${ENVIRONMENT} That of the client, by default.`,
  })
  environment?: PlatformEnvironment;
}

export class MerchantResponse {
  @IntegerProperty('ID of the merchant.', 16, { minimum: 1 })
  id!: number;

  @TextProperty('Name of the merchant.', 'Netflix', { minLength: 1 })
  name!: string;

  @BooleanProperty('Whether your organization hides the merchant.', false)
  hidden!: boolean;
}
