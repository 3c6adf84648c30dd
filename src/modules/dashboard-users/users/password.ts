import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';

/** NIST SP 800-63B, section 3.1.1.2, requires at least 8 with a second factor, and forbids composition rules. */
export const MIN_PASSWORD_LENGTH = 12;
/** Limits the work of hashing. */
export const MAX_PASSWORD_LENGTH = 256;

/** Returns whether the length is allowed, counted in Unicode code points. */
export function hasAllowedLength(password: string): boolean {
  const { length } = [...password];
  return length >= MIN_PASSWORD_LENGTH && length <= MAX_PASSWORD_LENGTH;
}

/** Returns an argon2id hash in PHC string format. The library's defaults follow OWASP (19 MiB, 2 passes). */
export function hashPassword(password: string): Promise<string> {
  return hash(normalized(password));
}

/** Returns whether the password has this hash. */
export function matchesHash(passwordHash: string, password: string): Promise<boolean> {
  return verify(passwordHash, normalized(password));
}

/** Keyboards may enter an ä as one character or as two (NIST SP 800-63B, section 3.1.1.2). */
function normalized(password: string): string {
  return password.normalize('NFC');
}

/** Returns a random password of 144 bits. */
export function generatePassword(): string {
  return randomBytes(18).toString('base64url');
}
