import { BooleanField, TextField } from '../../../infrastructure/validation/index.js';

const CHOICE = { in: 'form', default: false } as const;
/** Separated by commas. */
const VALUES = { in: 'form', required: false, max: 1_000 } as const;

export class SsoSettingsRequest {
  @BooleanField(CHOICE)
  creates_users!: boolean;

  @TextField({ in: 'form', required: false, max: 256, isTrimmed: true })
  role_attribute?: string;

  @TextField(VALUES)
  owner_values?: string;

  @TextField(VALUES)
  admin_values?: string;

  @TextField(VALUES)
  member_values?: string;

  @BooleanField(CHOICE)
  is_two_factor!: boolean;

  @BooleanField(CHOICE)
  required!: boolean;
}
