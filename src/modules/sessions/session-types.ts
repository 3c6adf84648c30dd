import { MINUTE } from '../../infrastructure/time/index.js';

/** The purpose of a session. */
export const SESSION_TYPES = ['card_switcher', 'transaction_link', 'link', 'vault'] as const;
export type SessionType = (typeof SESSION_TYPES)[number];

/** How long a session is valid, and by how much an extension prolongs it (specification, "Sessions"). */
export const SESSION_LIFETIME = 30 * MINUTE;
