import { BooleanProperty, TextProperty, TimestampProperty } from '../../infrastructure/openapi/index.js';
import { namedSchema } from '../../infrastructure/schemas/index.js';
import {
  ArrayField,
  ExternalUserIdField,
  IntegerField,
  MESSAGES,
  NOT_BLANK,
  TextField,
  TimestampField,
  UuidField,
  validateText,
} from '../../infrastructure/validation/index.js';
import { MAX_MERCHANT_ID } from '../merchants/index.js';
import { IdempotencyKeyField } from '../webhooks/index.js';

const MAX_NAMES = 100;
const MAX_NAME_LENGTH = 256;
const MAX_MERCHANTS = 100;

const NAME = { type: 'string', minLength: 1, maxLength: MAX_NAME_LENGTH, pattern: NOT_BLANK };

function MerchantNamesField(): PropertyDecorator {
  return ArrayField({
    max: MAX_NAMES,
    items: NAME,
    validateItem: (item, field) => validateText(field, item, MAX_NAME_LENGTH),
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

  /** The specification names this list `name`. */
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

const MERCHANT = namedSchema('MerchantNameOrId', {
  oneOf: [
    namedSchema('MerchantName', { ...NAME, description: 'Name of a merchant, in any common spelling.' }),
    namedSchema('MerchantId', {
      type: 'integer',
      minimum: 1,
      maximum: MAX_MERCHANT_ID,
      description: 'ID of a merchant.',
    }),
  ],
  description: 'A merchant, by name in any common spelling or by ID.',
});

/** Returns the error message for an item that is neither a merchant name nor a merchant ID. */
function validateMerchant(value: unknown, field: string): string | undefined {
  if (typeof value !== 'number') return validateText(field, value, MAX_NAME_LENGTH);
  if (!Number.isInteger(value)) return MESSAGES.integer(field);
  if (value < 1) return MESSAGES.min(field, 1);
  return value > MAX_MERCHANT_ID ? MESSAGES.max(field, MAX_MERCHANT_ID) : undefined;
}

/** The request of the sandbox, for a user of the authenticated client. `CreateDetectionRequest` adds the client and a key. */
export class DetectAccountsRequest {
  @ExternalUserIdField()
  external_user_id!: string;

  @ArrayField({
    max: MAX_MERCHANTS,
    items: MERCHANT,
    validateItem: validateMerchant,
    description: `1 to ${MAX_MERCHANTS} merchants, by name in any common spelling or by ID.`,
    example: ['DoorDash', 16],
  })
  merchants!: (string | number)[];
}

export class CreateDetectionRequest extends DetectAccountsRequest {
  @UuidField({
    description: 'The API client that the user belongs to.',
    example: '3f6c2a10-5a0e-4f5c-9a5c-6f0e8d7b1c2d',
  })
  client_id!: string;

  @IdempotencyKeyField('detection-4711')
  idempotency_key?: string;
}

/** A line of an import. */
export class ImportedDetection {
  @UuidField({ description: 'The API client that the user belongs to.' })
  client_id!: string;

  @ExternalUserIdField()
  external_user_id!: string;

  @TextField({
    required: { unless: 'merchant_id' },
    description: 'Name of the merchant, in any common spelling.',
  })
  merchant?: string;

  @IntegerField({ required: false, min: 1, max: MAX_MERCHANT_ID, description: 'ID of the merchant.' })
  merchant_id?: number;

  @TimestampField({
    required: false,
    description: 'When the account was detected. Default: the time of the import.',
  })
  detected_at?: string;
}
