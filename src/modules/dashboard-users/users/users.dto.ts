import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { DASHBOARD_ROLES, type DashboardRole } from '../../../infrastructure/auth/index.js';
import {
  Field,
  isBoolean,
  isEmailAddress,
  isOneOf,
  isString,
  maximumCharacters,
} from '../../../infrastructure/validation/index.js';

const NAME_LENGTH = 256;
/** RFC 5321, section 4.5.3.1.3: a path of 256 with its two brackets. */
const EMAIL_LENGTH = 254;

function UserName(required: boolean): PropertyDecorator {
  return Field({
    required,
    rules: [isString, maximumCharacters(NAME_LENGTH)],
    document: {
      type: String,
      minLength: 1,
      maxLength: NAME_LENGTH,
      description: 'Name of the person.',
      example: 'Ada Lovelace',
    },
  });
}

function Role(required: boolean): PropertyDecorator {
  return Field({
    required,
    rules: [isOneOf(DASHBOARD_ROLES)],
    document: {
      enum: [...DASHBOARD_ROLES],
      description: 'What the person may do. Only an owner makes owners.',
      example: 'member',
    },
  });
}

export class CreateUserRequest {
  @Field({
    rules: [isString, maximumCharacters(EMAIL_LENGTH), isEmailAddress],
    document: {
      type: String,
      format: 'email',
      maxLength: EMAIL_LENGTH,
      description: 'E-mail address. Upper and lower case make no difference.',
      example: 'ada@example.com',
    },
  })
  email!: string;

  @UserName(true)
  name!: string;

  @Role(true)
  role!: DashboardRole;
}

export class UpdateUserRequest {
  @UserName(false)
  name?: string;

  @Role(false)
  role?: DashboardRole;

  @Field({
    required: false,
    rules: [isBoolean],
    document: {
      type: Boolean,
      description: 'Whether the person is shut out for the time being.',
      example: false,
    },
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
    description: 'Names the user.',
    example: 'b8f6f0a7-63c5-4f53-9a58-1d8a0f6f7c21',
  })
  id!: string;

  @ApiProperty({
    type: String,
    description: 'E-mail address, in lower case.',
    example: 'ada@example.com',
  })
  email!: string;

  @ApiProperty({ type: String, description: 'Name of the person.', example: 'Ada Lovelace' })
  name!: string;

  @ApiProperty({
    enum: DASHBOARD_ROLES,
    description: 'The user’s own role. An access grant may give more for a time.',
    example: 'member',
  })
  role!: DashboardRole;

  @ApiProperty(flag('Whether the user is shut out.', false))
  disabled!: boolean;

  @ApiProperty(flag('Whether the user has not answered the invitation yet.', true))
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
