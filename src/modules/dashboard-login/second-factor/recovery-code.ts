import { randomBytes } from 'node:crypto';

/** 32 characters that nobody takes for another: a byte's low 5 bits choose one evenly. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
/** 50 random bits, of which 20 guesses an hour find nothing. */
const LENGTH = 10;
const CODES = 10;

/** A new set of recovery codes, as they are shown. */
export function generateRecoveryCodes(): string[] {
  return Array.from({ length: CODES }, generateRecoveryCode);
}

function generateRecoveryCode(): string {
  const characters = [...randomBytes(LENGTH)].map((byte) => ALPHABET.charAt(byte % ALPHABET.length));
  return `${characters.slice(0, LENGTH / 2).join('')}-${characters.slice(LENGTH / 2).join('')}`;
}

/** The one spelling that is digested: people leave hyphens out and write small letters. */
export function normalizeRecoveryCode(entered: string): string {
  return entered.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
}
