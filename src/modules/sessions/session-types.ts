import { enumeration } from '../../infrastructure/schemas/index.js';
import { MINUTE } from '../../infrastructure/time/index.js';

/** The purpose of a session. */
const SESSION_TYPES = ['card_switcher', 'transaction_link', 'link', 'vault'] as const;
export type SessionType = (typeof SESSION_TYPES)[number];
export const SESSION_TYPE = enumeration('SessionType', SESSION_TYPES, 'The purpose of a session.');

/** How long a session is valid, and by how much an extension prolongs it (specification, "Sessions"). */
export const SESSION_LIFETIME = 30 * MINUTE;
