/** The purpose of a session. */
export const SESSION_TYPES = ['card_switcher', 'transaction_link', 'link', 'vault'] as const;
export type SessionType = (typeof SESSION_TYPES)[number];
