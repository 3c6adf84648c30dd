import { randomBytes } from 'node:crypto';
import { hash } from '@node-rs/argon2';

/** NIST SP 800-63B asks for 8 at least and for no rules of composition; 12 costs a password manager nothing. */
export const SHORTEST_PASSWORD = 12;

/** argon2id in PHC string format; the library's defaults are those of OWASP (19 MiB, 2 passes). */
export function hashPassword(password: string): Promise<string> {
  return hash(password);
}

/** 144 random bits, for a person to paste once and then to change. */
export function generatePassword(): string {
  return randomBytes(18).toString('base64url');
}
