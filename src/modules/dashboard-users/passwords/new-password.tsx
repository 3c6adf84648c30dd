import type { VNode } from 'preact';
import { TextField } from '../../../infrastructure/pages/index.js';
import { hasAllowedLength, LONGEST_PASSWORD, SHORTEST_PASSWORD } from '../users/password.js';

/** What is wrong with a password that somebody chose; undefined when nothing is. */
export function faultOfNewPassword(password: string | undefined): string | undefined {
  if (password !== undefined && hasAllowedLength(password)) return undefined;
  return `Choose a password of ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters.`;
}

/** The field for a password that somebody chooses. */
export function NewPasswordField({ fault }: { readonly fault?: string | undefined }): VNode {
  return (
    <TextField
      name="new_password"
      label="New password"
      type="password"
      hint={`At least ${SHORTEST_PASSWORD} characters. A few words that you do not use elsewhere are fine.`}
      autocomplete="new-password"
      error={fault}
    />
  );
}
