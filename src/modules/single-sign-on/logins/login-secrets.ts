import { randomBytes } from 'node:crypto';
import { MINUTE } from '../../../infrastructure/time/index.js';
import type { LoginSecrets } from '../identity-provider.js';

/** Milliseconds for the login at the provider. */
const ATTEMPT_LIFETIME = 10 * MINUTE;

/** Returns when a login that can still be finished began at the earliest. */
export function begunAfter(now: Date): Date {
  return new Date(now.getTime() - ATTEMPT_LIFETIME);
}

/** Returns the random secrets of a new login. */
export function newSecrets(): LoginSecrets {
  const random = (): string => randomBytes(32).toString('base64url');
  return { state: random(), nonce: random(), verifier: random() };
}

/** Returns the `owner` argument for `Sealer`: the login that the secrets are bound to. */
export function ownerOfSecrets(attemptId: string): string[] {
  return ['sso_attempt', attemptId, 'secrets'];
}
