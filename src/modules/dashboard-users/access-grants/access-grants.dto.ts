import {
  BooleanProperty,
  EnumProperty,
  TextProperty,
  TimestampProperty,
  UuidProperty,
} from '../../../infrastructure/openapi/index.js';
import { enumeration } from '../../../infrastructure/schemas/index.js';
import { EnumField, IntegerField, TextField, UuidField } from '../../../infrastructure/validation/index.js';

export const GRANTED_ROLES = ['owner', 'admin'] as const;
export type GrantedRole = (typeof GRANTED_ROLES)[number];
const GRANTED_ROLE = enumeration('GrantedRole', GRANTED_ROLES, 'A role that an access grant can give.');

/** Seconds: 5 minutes to one week. */
const MIN_LIFETIME = 300;
const MAX_LIFETIME = 604_800;
const REASON_LENGTH = 256;

export const EXAMPLE_GRANT_ID = '6c7d8b8e-2f5c-4e0c-8a0b-5e5b1a7c9d42';
const EXAMPLE_USER_ID = 'b8f6f0a7-63c5-4f53-9a58-1d8a0f6f7c21';
const EXAMPLE_REASON = 'Covers for Grace this week';

export class CreateAccessGrantRequest {
  @UuidField({ description: 'The user who gets the role.', example: EXAMPLE_USER_ID })
  user_id!: string;

  @EnumField(GRANTED_ROLE, {
    description: 'The role that the user gets for the period. Only an owner can grant `owner`.',
    example: 'admin',
  })
  role!: GrantedRole;

  @TextField({
    max: REASON_LENGTH,
    description: 'Why the user needs the role, for later review.',
    example: EXAMPLE_REASON,
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
  @UuidProperty('ID of the grant.', EXAMPLE_GRANT_ID)
  id!: string;

  @UuidProperty('The user who has the role.', EXAMPLE_USER_ID)
  user_id!: string;

  @TextProperty('Email address of the user.', 'ada@example.com', { maxLength: 254 })
  email!: string;

  @EnumProperty(GRANTED_ROLE, 'The granted role.', 'admin')
  role!: GrantedRole;

  @TextProperty('Why the role was granted.', EXAMPLE_REASON, { maxLength: 256 })
  reason!: string;

  @TimestampProperty('When the role was granted.')
  created_at!: Date;

  @TextProperty('Email address of the user who granted the role.', 'grace@example.com', { maxLength: 254 })
  created_by!: string;

  @TimestampProperty('When the grant expires.', '2026-02-01T08:15:30.123Z')
  expires_at!: Date;

  @TimestampProperty('When the grant was revoked; null if it was not revoked.', null, { nullable: true })
  revoked_at!: Date | null;

  @BooleanProperty('Whether the grant is in force.', true)
  active!: boolean;
}
