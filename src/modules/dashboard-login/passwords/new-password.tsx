import type { VNode } from 'preact';
import { TextField } from '../../../infrastructure/pages/index.js';
import { hasAllowedLength, MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../dashboard-users/index.js';

/** Returns the error message about a new password, or undefined if the password is acceptable. */
export function validateNewPassword(password: string | undefined): string | undefined {
  if (password !== undefined && hasAllowedLength(password)) return undefined;
  return `Choose a password of ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters.`;
}

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
