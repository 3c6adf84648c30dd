import { EmailField, EnumField, IntegerField, TextField } from '../../../infrastructure/validation/index.js';

export const GRANTED_ROLES = ['owner', 'admin'] as const;
export type GrantedRole = (typeof GRANTED_ROLES)[number];

/** Seconds: 5 minutes to one week. */
const MIN_LIFETIME = 300;
const MAX_LIFETIME = 604_800;
const REASON_LENGTH = 256;

export class CreateAccessGrantRequest {
  @EmailField({ in: 'form' })
  email!: string;

  @EnumField(GRANTED_ROLES, { in: 'form' })
  role!: GrantedRole;

  /** For later review. */
  @TextField({ in: 'form', max: REASON_LENGTH })
  reason!: string;

  @IntegerField({ in: 'form', min: MIN_LIFETIME, max: MAX_LIFETIME })
  expires_in!: number;
}
