import {
  BooleanProperty,
  EnumProperty,
  TextProperty,
  TimestampProperty,
  UuidProperty,
} from '../../../infrastructure/openapi/index.js';
import { ROLE, type DashboardRole } from '../../../infrastructure/auth/index.js';
import { BooleanField, EmailField, EnumField, TextField } from '../../../infrastructure/validation/index.js';

export const EXAMPLE_USER_ID = 'b8f6f0a7-63c5-4f53-9a58-1d8a0f6f7c21';
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

export class UserResponse {
  @UuidProperty('ID of the user.', EXAMPLE_USER_ID)
  id!: string;

  @TextProperty('Email address, in lower case.', 'ada@example.com', {
    maxLength: 254,
  })
  email!: string;

  @TextProperty('Name of the user.', 'Ada Lovelace', { minLength: 1, maxLength: 256 })
  name!: string;

  @EnumProperty(
    ROLE,
    'The user’s own role. An access grant can give a higher role for a limited time.',
    'member',
  )
  role!: DashboardRole;

  @BooleanProperty('Whether the user is prevented from logging in.', false)
  disabled!: boolean;

  @BooleanProperty('Whether the user has not accepted the invitation yet.', true)
  invitation_pending!: boolean;

  @BooleanProperty('Whether the user logs in with a second factor.', false)
  two_factor_enabled!: boolean;

  @TimestampProperty('When the user was added.')
  created_at!: Date;
}
