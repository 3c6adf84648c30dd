import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { DASHBOARD_ROLES, type DashboardRole } from '../../../infrastructure/auth/index.js';
import { BooleanField, EmailField, EnumField, TextField } from '../../../infrastructure/validation/index.js';

const NAME_LENGTH = 256;
const NAME = { max: NAME_LENGTH, description: 'Name of the user.', example: 'Ada Lovelace' };
const ROLE = { description: 'Role of the user. Only an owner can assign `owner`.', example: 'member' };

export class CreateUserRequest {
  @EmailField({ description: 'Email address, case-insensitive.', example: 'ada@example.com' })
  email!: string;

  @TextField(NAME)
  name!: string;

  @EnumField(DASHBOARD_ROLES, ROLE)
  role!: DashboardRole;
}

export class UpdateUserRequest {
  @TextField({ ...NAME, required: false })
  name?: string;

  @EnumField(DASHBOARD_ROLES, { ...ROLE, required: false })
  role?: DashboardRole;

  @BooleanField({
    required: false,
    description: 'Whether the user is prevented from logging in.',
    example: false,
  })
  disabled?: boolean;
}

const flag = (description: string, example: boolean): ApiPropertyOptions => ({
  type: Boolean,
  description,
  example,
});

export class UserResponse {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'ID of the user.',
    example: 'b8f6f0a7-63c5-4f53-9a58-1d8a0f6f7c21',
  })
  id!: string;

  @ApiProperty({
    type: String,
    description: 'Email address, in lower case.',
    example: 'ada@example.com',
  })
  email!: string;

  @ApiProperty({ type: String, description: 'Name of the user.', example: 'Ada Lovelace' })
  name!: string;

  @ApiProperty({
    enum: DASHBOARD_ROLES,
    description: 'The user’s own role. An access grant can give a higher role for a limited time.',
    example: 'member',
  })
  role!: DashboardRole;

  @ApiProperty(flag('Whether the user is prevented from logging in.', false))
  disabled!: boolean;

  @ApiProperty(flag('Whether the user has not accepted the invitation yet.', true))
  invitation_pending!: boolean;

  @ApiProperty(flag('Whether the user logs in with a second factor.', false))
  two_factor_enabled!: boolean;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When the user was added.',
    example: '2026-01-31T08:15:30.123Z',
  })
  created_at!: Date;
}

export const EXAMPLE_USER = {
  id: 'b8f6f0a7-63c5-4f53-9a58-1d8a0f6f7c21',
  email: 'ada@example.com',
  name: 'Ada Lovelace',
  role: 'member',
  disabled: false,
  invitation_pending: true,
  two_factor_enabled: false,
  created_at: '2026-01-31T08:15:30.123Z',
};
