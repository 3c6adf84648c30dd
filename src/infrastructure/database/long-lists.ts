import { KeyedQueue } from '../queues/index.js';

/**
 * Limits how many long lists this process reads from the main pool for a client or an organization at the same time, whichever lists.
 * Reading one takes milliseconds of the process and of the database, and requests that only read do not wait in `OrganizationQueue`.
 */
export const longLists = new KeyedQueue(2);
