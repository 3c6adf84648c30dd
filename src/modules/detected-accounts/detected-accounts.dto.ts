import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import {
  eachItem,
  ExternalUserId,
  Field,
  isArray,
  isNotEmpty,
  isString,
  maximumCharacters,
  maximumItems,
} from '../../infrastructure/validation/index.js';

const MAX_NAMES = 100;
const NAME_LENGTH = 256;

/** Names of merchants or companies: 1 to 100 of 1 to 256 characters. */
function MerchantNames(): PropertyDecorator {
  return Field({
    rules: [
      isArray,
      isNotEmpty,
      maximumItems(MAX_NAMES),
      eachItem([isString, maximumCharacters(NAME_LENGTH)]),
    ],
    document: {
      type: 'array',
      items: { type: 'string', minLength: 1, maxLength: NAME_LENGTH },
      minItems: 1,
      maxItems: MAX_NAMES,
      description: 'Names of merchants or companies, in any usual spelling: 1 to 100.',
      example: ['Netflix', 'door dash'],
    } as ApiPropertyOptions,
  });
}

export class SearchDetectedAccountsRequest {
  @ExternalUserId()
  external_user_id!: string;

  @MerchantNames()
  names!: string[];
}

export class IdentifyDetectedAccountsRequest {
  @ExternalUserId()
  external_user_id!: string;

  @MerchantNames()
  name!: string[];
}

export class DetectedAccountResponse {
  @ApiProperty({ type: String, description: 'The name as you sent it.', example: 'door dash' })
  name!: string;

  @ApiProperty({ type: Boolean, description: 'Whether the user has an account there.', example: true })
  detected!: boolean;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When the account was detected; null when it was not.',
    example: '2026-01-31T08:15:30.123Z',
  })
  detected_at!: Date | null;
}
