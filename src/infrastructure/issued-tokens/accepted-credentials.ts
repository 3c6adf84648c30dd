import { BoundedCache } from '../caching/index.js';
import { sha256 } from '../crypto/index.js';
import { SECOND, type Clock } from '../time/index.js';

/** Milliseconds within which every process notices that a credential is no longer accepted. */
const CACHED_FOR = 5 * SECOND;
const MAX_CACHED = 10_000;

/** Caches accepted credentials, each under its hash. Refused credentials are looked up each time. */
export class AcceptedCredentials<Known extends object> extends BoundedCache<Known> {
  constructor(clock: Clock) {
    super({
      max: MAX_CACHED,
      ttl: CACHED_FOR,
      // Without rounding.
      ttlResolution: 0,
      noDeleteOnStaleGet: true,
      perf: { now: () => clock.monotonic() },
    });
  }

  /** Returns the last accepted value, no matter how long ago that was. */
  last(key: string): Known | undefined {
    return this.peek(key, { allowStale: true });
  }
}

/** Returns the key under which a credential is cached. It contains a hash, because the credential is a secret. */
export function cacheKeyOf(secret: string, clientId = ''): string {
  return `${clientId}:${sha256(secret).toString('base64')}`;
}
