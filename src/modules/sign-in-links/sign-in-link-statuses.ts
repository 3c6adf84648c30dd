/** `expired` is never stored: a pending link has expired when its time is up. */
export const SIGN_IN_LINK_STATUSES = ['pending', 'completed', 'failed', 'expired', 'cancelled'] as const;
export type SignInLinkStatus = (typeof SIGN_IN_LINK_STATUSES)[number];
