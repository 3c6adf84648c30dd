import { ExternalUserIdField, IntegerField } from '../../infrastructure/validation/index.js';
import { MAX_MERCHANT_ID } from '../merchants/index.js';

export class UnlinkAccountRequest {
  @ExternalUserIdField()
  external_user_id!: string;

  @IntegerField({ min: 1, max: MAX_MERCHANT_ID, description: 'ID of the merchant.', example: 16 })
  merchant_id!: number;
}
