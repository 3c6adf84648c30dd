import { BooleanField, TextField } from '../../../infrastructure/validation/index.js';

const values = (role: string) => ({
  required: false as const,
  max: 1_000,
  description: `The values for the role ${role}, separated by commas.`,
  example: 'dashboard-admins',
});

/** The form with the settings of single sign-on. */
export class SsoSettingsRequest {
  @BooleanField({ description: 'Whether new people become users at their first login.' })
  creates_users!: boolean;

  @TextField({
    required: false,
    max: 256,
    description: 'The claim or attribute that decides the role.',
    example: 'groups',
  })
  role_attribute?: string;

  @TextField(values('owner'))
  owner_values?: string;

  @TextField(values('admin'))
  admin_values?: string;

  @TextField(values('member'))
  member_values?: string;

  @BooleanField({ description: 'Whether a login at the identity provider counts as two factors.' })
  is_two_factor!: boolean;

  @BooleanField({ description: 'Whether users must log in at the identity provider.' })
  required!: boolean;
}
