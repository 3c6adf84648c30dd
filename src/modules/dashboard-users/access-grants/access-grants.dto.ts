import { ApiProperty } from '@nestjs/swagger';
import { EnumField, IntegerField, TextField, UuidField } from '../../../infrastructure/validation/index.js';

const GRANTED_ROLES = ['owner', 'admin'] as const;
export type GrantedRole = (typeof GRANTED_ROLES)[number];

/** Seconds: 5 minutes to one week. */
const MIN_LIFETIME = 300;
const MAX_LIFETIME = 604_800;
const REASON_LENGTH = 256;

export const EXAMPLE_GRANT = {
  id: '6c7d8b8e-2f5c-4e0c-8a0b-5e5b1a7c9d42',
  user_id: 'b8f6f0a7-63c5-4f53-9a58-1d8a0f6f7c21',
  email: 'ada@example.com',
  role: 'admin',
  reason: 'Covers for Grace this week',
  created_at: '2026-01-31T08:15:30.123Z',
  created_by: 'grace@example.com',
  expires_at: '2026-02-01T08:15:30.123Z',
  revoked_at: null,
  active: true,
};

export class CreateAccessGrantRequest {
  @UuidField({ description: 'The user who gets the role.', example: EXAMPLE_GRANT.user_id })
  user_id!: string;

  @EnumField(GRANTED_ROLES, {
    description: 'The role that the user gets for the period. Only an owner can grant `owner`.',
    example: 'admin',
  })
  role!: GrantedRole;

  @TextField({
    max: REASON_LENGTH,
    description: 'Why the user needs the role, for later review.',
    example: EXAMPLE_GRANT.reason,
  })
  reason!: string;

  @IntegerField({
    min: MIN_LIFETIME,
    max: MAX_LIFETIME,
    description: 'Seconds until the grant expires, from 5 minutes to one week.',
    example: 86_400,
  })
  expires_in!: number;
}

export class AccessGrantResponse {
  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'ID of the grant.',
    example: EXAMPLE_GRANT.id,
  })
  id!: string;

  @ApiProperty({
    type: String,
    format: 'uuid',
    description: 'The user who has the role.',
    example: EXAMPLE_GRANT.user_id,
  })
  user_id!: string;

  @ApiProperty({
    type: String,
    description: 'Email address of the user.',
    example: EXAMPLE_GRANT.email,
  })
  email!: string;

  @ApiProperty({ enum: GRANTED_ROLES, description: 'The granted role.', example: EXAMPLE_GRANT.role })
  role!: GrantedRole;

  @ApiProperty({ type: String, description: 'Why the role was granted.', example: EXAMPLE_GRANT.reason })
  reason!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When the role was granted.',
    example: EXAMPLE_GRANT.created_at,
  })
  created_at!: Date;

  @ApiProperty({
    type: String,
    description: 'Email address of the user who granted the role.',
    example: EXAMPLE_GRANT.created_by,
  })
  created_by!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When the grant expires.',
    example: EXAMPLE_GRANT.expires_at,
  })
  expires_at!: Date;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When the grant was revoked; null if it was not revoked.',
    example: null,
  })
  revoked_at!: Date | null;

  @ApiProperty({ type: Boolean, description: 'Whether the grant is in force.', example: true })
  active!: boolean;
}
