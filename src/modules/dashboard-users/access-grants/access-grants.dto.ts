import { ApiProperty } from '@nestjs/swagger';
import {
  Field,
  isInteger,
  isOneOf,
  isString,
  isUuid,
  maximum,
  maximumCharacters,
  minimum,
} from '../../../infrastructure/validation/index.js';

const GRANTED_ROLES = ['owner', 'admin'] as const;
export type GrantedRole = (typeof GRANTED_ROLES)[number];

const MIN_LIFETIME = 300;
/** A week. */
const MAX_LIFETIME = 604_800;
const REASON_LENGTH = 256;

export const EXAMPLE_GRANT = {
  id: '6c7d8b8e-2f5c-4e0c-8a0b-5e5b1a7c9d42',
  user_id: 'b8f6f0a7-63c5-4f53-9a58-1d8a0f6f7c21',
  email: 'ada@example.com',
  role: 'admin',
  reason: 'Stands in for Grace this week',
  created_at: '2026-01-31T08:15:30.123Z',
  created_by: 'grace@example.com',
  expires_at: '2026-02-01T08:15:30.123Z',
  revoked_at: null,
  active: true,
};

export class CreateAccessGrantRequest {
  @Field({
    rules: [isUuid],
    document: {
      type: String,
      format: 'uuid',
      description: 'The user who gets more rights.',
      example: EXAMPLE_GRANT.user_id,
    },
  })
  user_id!: string;

  @Field({
    rules: [isOneOf(GRANTED_ROLES)],
    document: {
      enum: [...GRANTED_ROLES],
      description: 'The role that the user has for the time. Only an owner grants `owner`.',
      example: 'admin',
    },
  })
  role!: GrantedRole;

  @Field({
    rules: [isString, maximumCharacters(REASON_LENGTH)],
    document: {
      type: String,
      minLength: 1,
      maxLength: REASON_LENGTH,
      description: 'Why. For those who look at it later.',
      example: EXAMPLE_GRANT.reason,
    },
  })
  reason!: string;

  @Field({
    rules: [isInteger, minimum(MIN_LIFETIME), maximum(MAX_LIFETIME)],
    document: {
      type: 'integer',
      minimum: MIN_LIFETIME,
      maximum: MAX_LIFETIME,
      description: 'Seconds: from 5 minutes to a week.',
      example: 86_400,
    },
  })
  expires_in!: number;
}

export class AccessGrantResponse {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'Names the grant.',
    example: EXAMPLE_GRANT.id,
  })
  id!: string;

  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'The user who has more rights.',
    example: EXAMPLE_GRANT.user_id,
  })
  user_id!: string;

  @ApiProperty({
    type: String,
    description: 'The user’s e-mail address.',
    example: EXAMPLE_GRANT.email,
  })
  email!: string;

  @ApiProperty({ enum: GRANTED_ROLES, description: 'The role for the time.', example: EXAMPLE_GRANT.role })
  role!: GrantedRole;

  @ApiProperty({ type: String, description: 'Why it was granted.', example: EXAMPLE_GRANT.reason })
  reason!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When it was granted.',
    example: EXAMPLE_GRANT.created_at,
  })
  created_at!: Date;

  @ApiProperty({
    type: String,
    description: 'E-mail address of who granted it.',
    example: EXAMPLE_GRANT.created_by,
  })
  created_by!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When it ends by itself.',
    example: EXAMPLE_GRANT.expires_at,
  })
  expires_at!: Date;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When it was revoked; null when it was not.',
    example: null,
  })
  revoked_at!: Date | null;

  @ApiProperty({ type: Boolean, description: 'Whether it is in force.', example: true })
  active!: boolean;
}
