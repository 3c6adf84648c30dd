import { ApiProperty } from '@nestjs/swagger';
import { ENVIRONMENTS, type PlatformEnvironment } from '../../infrastructure/config/index.js';
import { Field, isOneOf, type FieldOptions } from '../../infrastructure/validation/index.js';

function Environment(place: Pick<FieldOptions, 'in'> = {}): PropertyDecorator {
  return Field({
    ...place,
    rules: [isOneOf(ENVIRONMENTS)],
    document: {
      enum: [...ENVIRONMENTS],
      description: 'Each environment has its own hidden merchants.',
      example: 'production',
    },
  });
}

export class MerchantsQuery {
  @Environment({ in: 'query' })
  environment!: PlatformEnvironment;
}

export class ChangeMerchantVisibilityRequest {
  @Environment()
  environment!: PlatformEnvironment;
}

export class MerchantResponse {
  @ApiProperty({ type: 'integer', description: 'Names the merchant.', example: 12 })
  id!: number;

  @ApiProperty({ type: String, description: 'Name of the merchant.', example: 'Netflix' })
  name!: string;

  @ApiProperty({ type: Boolean, description: 'Whether your organization hides it.', example: false })
  hidden!: boolean;
}

export const EXAMPLE_MERCHANT = { id: 12, name: 'Netflix', hidden: false };
