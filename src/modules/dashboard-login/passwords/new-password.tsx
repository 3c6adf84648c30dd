import type { VNode } from 'preact';
import { TextField } from '../../../infrastructure/pages/index.js';
import { hasAllowedLength, MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../dashboard-users/index.js';

/** What is wrong with a password that somebody chose; undefined when nothing is. */
export function validateNewPassword(password: string | undefined): string | undefined {
  if (password !== undefined && hasAllowedLength(password)) return undefined;
  return `Choose a password of ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters.`;
}

/** The field for a password that somebody chooses. */
export function NewPasswordField({ fault }: { readonly fault?: string | undefined }): VNode {
  return (
    <TextField
      name="new_password"
      label="New password"
      type="password"
      hint={`At least ${MIN_PASSWORD_LENGTH} characters. A few words that you do not use elsewhere are fine.`}
      autocomplete="new-password"
      error={fault}
    />
  );
}
