import { EmailField, EnumField, IntegerField, TextField } from '../../../infrastructure/validation/index.js';
import { GRANTED_ROLES, type GrantedRole } from '../access-grant.entity.js';

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
