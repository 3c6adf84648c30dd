import { DAY, MINUTE } from '../../../infrastructure/time/index.js';
import { TOKEN_LIFETIME, type TokenSigningKey } from './tokens.entity.js';

/** How long a key is published before it signs: longer than clients may cache the JWKS. */
export const PUBLISHED_BEFORE_USE = 10 * MINUTE;
/** How long clients may cache the JWKS. */
export const JWKS_CACHED_FOR = 5 * MINUTE;
/** Tolerated difference between the clocks of this service and of verifiers. */
const CLOCK_SKEW = 2 * MINUTE;

type Times = Pick<TokenSigningKey, 'signsFrom'>;

/**
 * Returns the keys to publish: a key signs until the next one takes over and stays published until the last token
 * that it signed has expired on every clock.
 *
 * @param keys newest first
 */
export function publishedKeys<Key extends Times>(keys: readonly Key[], now: Date): Key[] {
  return keys.filter((_key, index) => !isObsolete(keys[index - 1], now, 0));
}

/**
 * Returns the key that signs now. The first key signs even if this process's clock is behind that of the process that
 * created it.
 *
 * @param keys newest first
 */
export function signingKey<Key extends Times>(keys: readonly Key[], now: Date): Key | undefined {
  return keys.find(({ signsFrom }) => signsFrom <= now) ?? keys.at(-1);
}

/** Returns the keys that have been obsolete (not published anymore) for more than a day. @param keys newest first */
export function deletableKeys<Key extends Times>(keys: readonly Key[], now: Date): Key[] {
  return keys.filter((_key, index) => isObsolete(keys[index - 1], now, DAY));
}

/**
 * Returns whether a key has been obsolete for at least this many milliseconds.
 *
 * @param successor the key that signs after it
 */
function isObsolete(successor: Times | undefined, now: Date, forAtLeast: number): boolean {
  if (!successor) return false;
  return successor.signsFrom.getTime() + TOKEN_LIFETIME + CLOCK_SKEW + forAtLeast < now.getTime();
}
