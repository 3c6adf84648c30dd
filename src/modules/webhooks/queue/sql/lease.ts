import { hasCome } from '../../../../infrastructure/database/index.js';
import { SECOND } from '../../../../infrastructure/time/index.js';

/** Seconds. An attempt takes at most 10; the rest allows for a slow settlement. */
const LEASE = 30;

/** SQL for whether a lease has ended. */
export const IS_LEASE_OVER = hasCome('claimed.lease_until', LEASE * SECOND);

/** SQL for the end of a lease that begins now. */
export const LEASE_UNTIL = `now() + interval '${LEASE} seconds'`;
