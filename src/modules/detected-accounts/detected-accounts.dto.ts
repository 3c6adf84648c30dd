import { BooleanProperty, TextProperty, TimestampProperty } from '../../infrastructure/openapi/index.js';
import { ArrayField, ExternalUserIdField, validateText } from '../../infrastructure/validation/index.js';

const MAX_NAMES = 100;
const NAME_LENGTH = 256;

function MerchantNamesField(): PropertyDecorator {
  return ArrayField({
    max: MAX_NAMES,
    items: { type: 'string', minLength: 1, maxLength: NAME_LENGTH },
    validateItem: (item, field) => validateText(field, item, NAME_LENGTH),
    invalidItem: 'x'.repeat(NAME_LENGTH + 1),
    description: `Names of 1 to ${MAX_NAMES} merchants or companies, in any common spelling.`,
    example: ['Netflix', 'door dash'],
  });
}

export class SearchDetectedAccountsRequest {
  @ExternalUserIdField()
  external_user_id!: string;

  @MerchantNamesField()
  names!: string[];
}

export class IdentifyDetectedAccountsRequest {
  @ExternalUserIdField()
  external_user_id!: string;

  @MerchantNamesField()
  name!: string[];
}

export class DetectedAccountResponse {
  @TextProperty('The name as you sent it.', 'door dash')
  name!: string;

  @BooleanProperty('Whether an account of the user was detected at this merchant.', true)
  detected!: boolean;

  @TimestampProperty('When the account was detected; null if none was detected.', undefined, {
    nullable: true,
  })
  detected_at!: Date | null;
}
