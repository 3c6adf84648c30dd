import { z } from 'zod';
import { SIGN_IN_LINK_STATUSES, type SignInFailure, type SignInLinkView } from '../../sign-in-links/index.js';
import { MERCHANT, TIMESTAMP } from './tool.js';

/** The arguments of tools for one link. */
export const LINK_ID = z.strictObject({
  link_id: z.string().describe('From create_sign_in_link or list_sign_in_links.'),
});

/** What tools return about a link. */
export const SIGN_IN_LINK = z.object({
  link_id: z.string(),
  merchant: MERCHANT,
  status: z.enum(SIGN_IN_LINK_STATUSES),
  failure_reason: z.string().nullable(),
  expires_at: TIMESTAMP,
});

const REASONS: Readonly<Record<SignInFailure, string>> = {
  not_sent: 'The text message could not be sent.',
  refused: 'The merchant refused the sign-in, for example because the account is locked.',
  too_many_attempts: 'The merchant rejected the credentials or codes too many times.',
};

export function toSignInLink({
  id,
  merchant,
  status,
  failure,
  expiresAt,
}: SignInLinkView): z.input<typeof SIGN_IN_LINK> {
  return {
    link_id: id,
    merchant,
    status,
    failure_reason: failure === undefined ? null : REASONS[failure],
    expires_at: expiresAt.toISOString(),
  };
}

/** Returns the phone number with all but its country and its last four digits hidden. */
export function maskedPhoneNumber(phoneNumber: string): string {
  return `${phoneNumber.slice(0, 2)} *** *** ${phoneNumber.slice(-4)}`;
}
