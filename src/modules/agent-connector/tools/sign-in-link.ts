import { z } from 'zod';
import type { AuthenticatedAgent } from '../../../infrastructure/auth/index.js';
import { SIGN_IN_LINK_STATUSES, type SignInLinkView } from '../../sign-in-links/index.js';
import { MERCHANT, TIMESTAMP } from './tool.js';

/** The arguments of tools for one link. */
export const LINK_ID = z.strictObject({
  link_id: z.string().describe('From create_sign_in_link.'),
});

/** What tools return about a link. */
export const SIGN_IN_LINK = z.object({
  link_id: z.string(),
  merchant: MERCHANT,
  status: z.enum(SIGN_IN_LINK_STATUSES),
  expires_at: TIMESTAMP,
});

export function toSignInLink({
  id,
  merchant,
  status,
  expiresAt,
}: SignInLinkView): z.input<typeof SIGN_IN_LINK> {
  return { link_id: id, merchant, status, expires_at: expiresAt.toISOString() };
}

/** Why an agent cannot create sign-in links, if it cannot. */
export function signInProblem({ phoneNumber }: AuthenticatedAgent): string | undefined {
  return phoneNumber === undefined
    ? 'This connection has no phone number of the user, so sign-in links cannot be sent. The company can create an MCP token with phone_number.'
    : undefined;
}

/** Returns the phone number with all but its country and its last four digits hidden. */
export function maskedPhoneNumber(phoneNumber: string): string {
  return `${phoneNumber.slice(0, 2)} *** *** ${phoneNumber.slice(-4)}`;
}
