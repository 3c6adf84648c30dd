import { ROLE, type DashboardRole } from '../../../infrastructure/auth/index.js';
import { BooleanField, EmailField, EnumField, TextField } from '../../../infrastructure/validation/index.js';

const NAME_LENGTH = 256;
const NAME = { max: NAME_LENGTH, description: 'Name of the user.', example: 'Ada Lovelace' };
const ROLE_FIELD = { description: 'Role of the user. Only an owner can assign `owner`.', example: 'member' };

export class CreateUserRequest {
  @EmailField({ description: 'Email address, case-insensitive.', example: 'ada@example.com' })
  email!: string;

  @TextField(NAME)
  name!: string;

  @EnumField(ROLE, ROLE_FIELD)
  role!: DashboardRole;
}

export class UpdateUserRequest {
  @TextField({ ...NAME, required: false })
  name?: string;

  @EnumField(ROLE, { ...ROLE_FIELD, required: false })
  role?: DashboardRole;

  @BooleanField({
    required: false,
    description: 'Whether the user is prevented from logging in.',
    example: false,
  })
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
