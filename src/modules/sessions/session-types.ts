/** What a session is for. */
export const SESSION_TYPES = ['card_switcher', 'transaction_link', 'link', 'vault'] as const;
export type SessionType = (typeof SESSION_TYPES)[number];
