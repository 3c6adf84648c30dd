import { DAY, MINUTE, SECOND } from '../../../infrastructure/time/index.js';
import type { TokenSigningKey } from './token-signing-key.entity.js';

/** How long an access token lives (specification, "Limits"). */
export const TOKEN_LIFETIME = 900 * SECOND;
/** How long a key is published before it signs: longer than anybody keeps the JWKS. */
export const PUBLISHED_BEFORE_USE = 10 * MINUTE;
/** How long others may keep the JWKS. */
export const JWKS_KEPT_FOR = 5 * MINUTE;
/** By how much the clocks of our processes, and of those who verify, may differ. */
const CLOCK_SKEW = 2 * MINUTE;

type Times = Pick<TokenSigningKey, 'signsFrom'>;

/**
 * A key signs from its time on until the next one does. It stays published for as long as a token that it
 * signed may live, and the clocks of those who look at the token differ.
 *
 * @param keys the newest first
 */
export function publishedKeys<Key extends Times>(keys: readonly Key[], now: Date): Key[] {
  return keys.filter((_key, index) => !isOver(keys[index - 1], now, 0));
}

/**
 * The key that signs now: the first one also where a clock is behind that of the process that made it.
 *
 * @param keys the newest first
 */
export function signingKey<Key extends Times>(keys: readonly Key[], now: Date): Key | undefined {
  return keys.find(({ signsFrom }) => signsFrom <= now) ?? keys.at(-1);
}

/**
 * Keys that no token can need any more, for a day already.
 *
 * @param keys the newest first
 */
export function obsoleteKeys<Key extends Times>(keys: readonly Key[], now: Date): Key[] {
  return keys.filter((_key, index) => isOver(keys[index - 1], now, DAY));
}

function isOver(successor: Times | undefined, now: Date, since: number): boolean {
  if (!successor) return false;
  return successor.signsFrom.getTime() + TOKEN_LIFETIME + CLOCK_SKEW + since < now.getTime();
}
