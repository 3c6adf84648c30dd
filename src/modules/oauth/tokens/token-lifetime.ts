import { MINUTE } from '../../../infrastructure/time/index.js';

/** Lifetime of an access token in milliseconds (specification, "Limits"). */
export const TOKEN_LIFETIME = 15 * MINUTE;
