import { NO_ACCESS } from '../../infrastructure/errors/index.js';
import { IDEMPOTENCY_KEY_REUSED } from '../../infrastructure/idempotency/index.js';
import {
  BooleanProperty,
  TextProperty,
  TimestampProperty,
  withMessages,
  type OperationDocument,
} from '../../infrastructure/openapi/index.js';
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
import { API_CLIENT_NOT_FOUND } from '../api-clients/index.js';
import { MAX_MERCHANT_ID, MERCHANT_NOT_FOUND } from '../merchants/index.js';
import { EVENT_KEY_PARAMETER, EventResponse, IdempotencyKeyField } from '../webhooks/index.js';

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

const RESULTS = {
  response: [DetectedAccountResponse],
  responseDescription: 'One result for each name, in the order of the names.',
  responseExample: [
    { name: 'Netflix', detected: true, detected_at: '2026-01-31T08:15:30.123Z' },
    { name: 'door dash', detected: false, detected_at: null },
  ],
} as const;

export const SEARCH_DETECTED_ACCOUNTS: OperationDocument = {
  operationId: 'searchDetectedAccounts',
  place: 6,
  repeatable: 'always',
  ifRepeated: 'It only reads.',
  summary: 'Search detected accounts',
  description:
    'Returns for each name whether an account of the user was detected at that merchant. Call this operation when you ' +
    'receive the `NEW_DETECTED_ACCOUNTS_AVAILABLE` webhook. Matching ignores case, accents, punctuation and spacing, ' +
    'knows common aliases of merchants, and finds Netflix under "Netflix account", "Netflix, Inc." and ' +
    '"www.netflix.com" too. Results are in the order of `names`, including duplicates. For an unknown ' +
    'user, nothing is detected.',
  body: SearchDetectedAccountsRequest,
  ...RESULTS,
  errors: [],
};

export const IDENTIFY_DETECTED_ACCOUNTS: OperationDocument = {
  operationId: 'identifyDetectedAccounts',
  place: 7,
  repeatable: 'always',
  ifRepeated: 'It only reads.',
  summary: 'Identify detected accounts (by arrangement)',
  description:
    'Works like "Search detected accounts", with the names in the `name` field. The operation responds with 403 ' +
    '`NO_ACCESS` until access is arranged for your client.',
  body: IdentifyDetectedAccountsRequest,
  ...RESULTS,
  errors: [NO_ACCESS],
};

export const CREATE_DETECTION: OperationDocument = {
  operationId: 'createDetection',
  repeatable: 'with_idempotency_key',
  ifRepeated:
    'With an `idempotency_key`, nothing changes. Without one, the accounts stay as they are, but the event is ' +
    'published again.',
  summary: 'Record detected accounts',
  description:
    'Records that accounts of a user were detected at these merchants now, and publishes ' +
    '`NEW_DETECTED_ACCOUNTS_AVAILABLE`. Use it in the pipeline that detects accounts. To make retries safe, send an ' +
    '`idempotency_key` or the header `Idempotency-Key`.',
  headerParameters: EVENT_KEY_PARAMETER,
  body: CreateDetectionRequest,
  response: EventResponse,
  responseDescription: 'The accounts are recorded and the event is published.',
  errors: [
    API_CLIENT_NOT_FOUND,
    withMessages(MERCHANT_NOT_FOUND, 'The merchant in merchants[0] does not exist.'),
    IDEMPOTENCY_KEY_REUSED,
  ],
};
