import { ApiProperty } from '@nestjs/swagger';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { EnvironmentField } from '../../infrastructure/validation/index.js';

const ENVIRONMENT = 'Each environment has its own hidden merchants.';

export class MerchantsQuery {
  @EnvironmentField({ in: 'query', description: ENVIRONMENT })
  environment!: PlatformEnvironment;
}

export class ChangeMerchantVisibilityRequest {
  @EnvironmentField({ description: ENVIRONMENT })
  environment!: PlatformEnvironment;
}

export class MerchantResponse {
  @ApiProperty({ type: 'integer', description: 'ID of the merchant.', example: 12 })
  id!: number;

  @ApiProperty({ type: String, description: 'Name of the merchant.', example: 'Netflix' })
  name!: string;

  @ApiProperty({
    type: Boolean,
    description: 'Whether your organization hides the merchant.',
    example: false,
  })
  hidden!: boolean;
}

export const EXAMPLE_MERCHANT = { id: 12, name: 'Netflix', hidden: false };
