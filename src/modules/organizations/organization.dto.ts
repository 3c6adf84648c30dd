import { BooleanField, IntegerField } from '../../infrastructure/validation/index.js';

/** Days in which users can set up a second factor before they need it. */
export const DEFAULT_GRACE_DAYS = 7;
const MAX_GRACE_DAYS = 90;

export class UpdateOrganizationRequest {
  @BooleanField({
    in: 'form',
    description:
      'Whether every user needs two-factor authentication. If it is already required, the date from which it is required ' +
      'stays.',
    example: true,
  })
  required!: boolean;

  @IntegerField({
    in: 'form',
    required: false,
    min: 0,
    max: MAX_GRACE_DAYS,
    default: DEFAULT_GRACE_DAYS,
    description:
      'Days until users without two-factor authentication can only set it up. Used only if it was not required before.',
    example: DEFAULT_GRACE_DAYS,
  })
  grace_period_days: number = DEFAULT_GRACE_DAYS;
}

export interface OrganizationResponse {
  readonly organization_id: string;
  readonly name: string;
  readonly activated_at: Date | null;
  readonly has_logo: boolean;
  /** From when users without two-factor authentication can only set it up; null if it is not required. */
  readonly second_factor_required_from: Date | null;
}
