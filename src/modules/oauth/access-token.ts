import { MINUTE } from '../../infrastructure/time/index.js';

/** Lifetime of an access token in milliseconds (specification, "Limits"). */
export const TOKEN_LIFETIME = 15 * MINUTE;

/** The algorithms that access tokens are signed with (RFC 7518, section 3.1). */
export const TOKEN_ALGORITHMS = ['ES256', 'RS256'] as const;
export type TokenAlgorithm = (typeof TOKEN_ALGORITHMS)[number];
