import { EnumProperty, IntegerProperty, TimestampProperty } from '../../infrastructure/openapi/index.js';
import { EnumField } from '../../infrastructure/validation/index.js';
import {
  MERCHANT_SESSION_TYPES,
  MERCHANT_STATUS,
  MERCHANT_STATUSES,
  SESSION_TYPE,
} from '../webhooks/index.js';

export class SetMerchantStatusRequest {
  @EnumField(SESSION_TYPE, { description: 'The type of session.', example: 'card_switcher' })
  type!: (typeof MERCHANT_SESSION_TYPES)[number];

  @EnumField(MERCHANT_STATUS, { description: 'Whether sessions of this type work.', example: 'DOWN' })
  status!: (typeof MERCHANT_STATUSES)[number];
}

export class MerchantStatusResponse {
  @IntegerProperty('ID of the merchant.', 16, { minimum: 1 })
  merchant_id!: number;

  @EnumProperty(SESSION_TYPE, 'The type of session.', 'card_switcher')
  type!: (typeof MERCHANT_SESSION_TYPES)[number];

  @EnumProperty(MERCHANT_STATUS, 'Whether sessions of this type work.', 'DOWN')
  status!: (typeof MERCHANT_STATUSES)[number];

  @IntegerProperty('Number of clients for which the event has been published.', 118, { minimum: 0 })
  published!: number;

  @TimestampProperty('When the status changed.')
  requested_at!: Date;

  @TimestampProperty(
    'When the event had been published for all clients; null while that is in progress.',
    null,
    { nullable: true },
  )
  finished_at!: Date | null;
}
