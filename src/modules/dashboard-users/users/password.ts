import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';

/** NIST SP 800-63B asks for 8 at least and for no rules of composition; 12 costs a password manager nothing. */
export const MIN_PASSWORD_LENGTH = 12;
/** Nobody remembers more, and a hash of megabytes would be work for nothing. */
export const MAX_PASSWORD_LENGTH = 256;

/** Characters are Unicode code points. */
export function hasAllowedLength(password: string): boolean {
  const { length } = [...password];
  return length >= MIN_PASSWORD_LENGTH && length <= MAX_PASSWORD_LENGTH;
}

/** argon2id in PHC string format; the library's defaults are those of OWASP (19 MiB, 2 passes). */
export function hashPassword(password: string): Promise<string> {
  return hash(normalized(password));
}

/** Compares in the time that the hash takes, whatever the password. */
export function matchesHash(passwordHash: string, password: string): Promise<boolean> {
  return verify(passwordHash, normalized(password));
}

/** Keyboards differ in how they spell an ä: as one character or as two (NIST SP 800-63B, section 3.1.1.2). */
function normalized(password: string): string {
  return password.normalize('NFC');
}

/** 144 random bits, for a person to paste once and then to change. */
export function generatePassword(): string {
  return randomBytes(18).toString('base64url');
}
