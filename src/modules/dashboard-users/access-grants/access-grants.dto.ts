import { enumeration } from '../../../infrastructure/schemas/index.js';
import { EmailField, EnumField, IntegerField, TextField } from '../../../infrastructure/validation/index.js';

export const GRANTED_ROLES = ['owner', 'admin'] as const;
export type GrantedRole = (typeof GRANTED_ROLES)[number];
const GRANTED_ROLE = enumeration('GrantedRole', GRANTED_ROLES, 'A role that an access grant can give.');

/** Seconds: 5 minutes to one week. */
const MIN_LIFETIME = 300;
const MAX_LIFETIME = 604_800;
const REASON_LENGTH = 256;

export class CreateAccessGrantRequest {
  @EmailField({ description: 'The user who gets the role, case-insensitive.', example: 'ada@example.com' })
  email!: string;

  @EnumField(GRANTED_ROLE, {
    description: 'The role that the user gets for the period. Only an owner can grant `owner`.',
    example: 'admin',
  })
  role!: GrantedRole;

  @TextField({
    max: REASON_LENGTH,
    description: 'Why the user needs the role, for later review.',
    example: 'Covers for Grace this week',
  })
  reason!: string;

  @IntegerField({
    in: 'form',
    min: MIN_LIFETIME,
    max: MAX_LIFETIME,
    description: 'Seconds until the grant expires, from 5 minutes to one week.',
    example: 86_400,
  })
  expires_in!: number;
}

export interface AccessGrantResponse {
  readonly id: string;
  readonly user_id: string;
  readonly email: string;
  readonly role: GrantedRole;
  readonly reason: string;
  readonly created_at: Date;
  readonly created_by: string;
  readonly expires_at: Date;
  readonly revoked_at: Date | null;
  readonly active: boolean;
}
