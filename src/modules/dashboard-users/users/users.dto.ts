import { ROLE, type DashboardRole } from '../../../infrastructure/auth/index.js';
import { BooleanField, EmailField, EnumField, TextField } from '../../../infrastructure/validation/index.js';

const NAME_LENGTH = 256;

export class CreateUserRequest {
  @EmailField({ in: 'form' })
  email!: string;

  @TextField({ in: 'form', max: NAME_LENGTH })
  name!: string;

  @EnumField(ROLE, { in: 'form' })
  role!: DashboardRole;
}

export class UpdateUserRequest {
  @TextField({ in: 'form', required: false, max: NAME_LENGTH })
  name?: string;

  @EnumField(ROLE, { in: 'form', required: false })
  role?: DashboardRole;

  @BooleanField({ in: 'form', required: false })
  disabled?: boolean;
}

export interface UserResponse {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  /** The user's own role. An access grant can give a higher one for a limited time. */
  readonly role: DashboardRole;
  readonly disabled: boolean;
  readonly invitation_pending: boolean;
  readonly two_factor_enabled: boolean;
  readonly created_at: Date;
}
