import { isEmail, isObject } from 'class-validator';
import { firstCharacters } from '../../infrastructure/validation/index.js';
import { REASONS, RefusedLogin, type ProviderIdentity } from './identity-provider.js';

const MAX_EMAIL_LENGTH = 254;
/**
 * The Kelvin sign is the only character outside ASCII whose lower case is an ASCII letter, `k`: an address with it would become that of
 * another person.
 */
const FALSE_K = /\u212a/;
/** Quoted names, spaces and several addresses are not one mailbox. Control, format and unassigned characters cannot be seen. */
const NOT_A_MAILBOX = /["\s\p{C}]|@.*@/u;
const SUBJECT = /^[^\p{C}\p{Zl}\p{Zp}]{1,255}$/u;

/**
 * Returns the address in lower case, or undefined without one. It decides who is logged in or created, so it must pass the check of
 * invitations before anything is looked up.
 *
 * @throws RefusedLogin
 */
export function mailboxIn(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (!isMailbox(value)) throw new RefusedLogin(REASONS.invalidEmail);
  return lowerCaseOf(value);
}

/** Returns an address in lower case, in which it identifies a person. @throws RefusedLogin if that makes it another one */
export function lowerCaseOf(address: string): string {
  if (FALSE_K.test(address)) throw new RefusedLogin(REASONS.invalidEmail);
  return address.toLowerCase();
}

/** Returns whether a text is one address, as `mailboxIn` reads it. */
export function isMailbox(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length <= MAX_EMAIL_LENGTH &&
    !NOT_A_MAILBOX.test(value) &&
    isEmail(value)
  );
}

/** Returns what identifies the person at the issuer. @throws RefusedLogin unless it has 1 to 255 printable characters */
export function subjectIn(text: string): string {
  if (!SUBJECT.test(text) || text.trim() === '') throw new RefusedLogin(REASONS.subject);
  return text;
}

/** Returns a claim by its name, or by its path in claims that are objects, as Keycloak's `realm_access.roles`. */
export function claimIn(claims: unknown, name: string): unknown {
  const object = Object(claims) as Record<string, unknown>;
  if (Object.hasOwn(object, name)) return object[name];
  const parts = name.split('.');
  for (let count = 1; count < parts.length; count += 1) {
    const outer = parts.slice(0, count).join('.');
    const found = Object.hasOwn(object, outer)
      ? claimIn(object[outer], parts.slice(count).join('.'))
      : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the texts of a claim: Zitadel, for example, sends roles as the names of members. */
export function textsIn(claim: unknown): string[] {
  return isObject(claim) ? Object.keys(claim) : [claim].flat().map(String);
}

/** Users' names have at most this many characters. */
const MAX_NAME_LENGTH = 256;
const GIVEN = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname';
const FAMILY = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/surname';
/** The claims and attributes with a name, the best first. Parts of a name belong together. */
const NAMES: readonly (readonly string[])[] = [
  ['name'],
  ['displayName'],
  ['http://schemas.microsoft.com/identity/claims/displayname'],
  ['urn:oid:2.16.840.1.113730.3.1.241'],
  ['given_name', 'family_name'],
  ['givenName', 'surname'],
  ['firstName', 'lastName'],
  [GIVEN, FAMILY],
];

/** Returns the name of a person in what the provider sent. */
export function nameIn(claims: ProviderIdentity['claims']): string | undefined {
  for (const names of NAMES) {
    const parts = names.map((name) => (Object.hasOwn(claims, name) ? [claims[name]].flat()[0] : undefined));
    const text = parts.filter((part) => typeof part === 'string').join(' ');
    // Control characters cannot be shown.
    const name = text.replaceAll(/\p{Cc}/gu, '').trim();
    if (name !== '') return firstCharacters(name, MAX_NAME_LENGTH);
  }
  return undefined;
}
