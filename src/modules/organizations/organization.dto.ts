import { BooleanField, IntegerField } from '../../infrastructure/validation/index.js';

/** Days in which users can set up a second factor before they need it. */
export const DEFAULT_GRACE_DAYS = 7;
const MAX_GRACE_DAYS = 90;

export class UpdateOrganizationRequest {
  /** If two-factor authentication is already required, the date from which it is required stays. */
  @BooleanField({ in: 'form' })
  required!: boolean;

  @IntegerField({ in: 'form', required: false, min: 0, max: MAX_GRACE_DAYS, default: DEFAULT_GRACE_DAYS })
  grace_period_days: number = DEFAULT_GRACE_DAYS;
}
