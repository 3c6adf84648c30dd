import { z } from 'zod';
import { SIGN_IN_LINK_STATUSES, type SignInLinkView } from '../../sign-in-links/index.js';
import { MERCHANT, TIMESTAMP } from './tool.js';

/** The arguments of tools for one link. */
export const LINK_ID = z.strictObject({
  link_id: z.string().describe('The link_id from create_sign_in_link or list_sign_in_links.'),
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

/** Returns the phone number with all but its country and its last four digits hidden. */
export function maskedPhoneNumber(phoneNumber: string): string {
  return `${phoneNumber.slice(0, 2)} *** *** ${phoneNumber.slice(-4)}`;
}
