import type { VNode } from 'preact';
import { TextField } from '../../../infrastructure/pages/index.js';
import { MIN_PASSWORD_LENGTH } from '../../dashboard-users/index.js';

/** The field for a new password. */
export function NewPasswordField({ error }: { readonly error?: string | undefined }): VNode {
  return (
    <TextField
      name="new_password"
      label="New password"
      type="password"
      hint={`At least ${MIN_PASSWORD_LENGTH} characters. A few words that you don’t use elsewhere work well.`}
      autocomplete="new-password"
      error={error}
    />
  );
}
