import { isEmail } from 'class-validator';
import { MINUTE } from '../../../infrastructure/time/index.js';
import { firstCharacters } from '../../../infrastructure/validation/index.js';
import type { BegunLogin } from '../../dashboard-login/index.js';
import type { SsoConfiguration } from '../configurations/sso-configuration.entity.js';

/** A login that is refused, with the reason in words for the user and for the admins of the organization. */
export class RefusedLogin extends Error {}

/** What to do about a provider whose logins do not prove that they are recent. */
export const RECENCY_REMEDY =
  'Where a recent login is required, users need a passkey or a second factor of this service: let them add one before you require single sign-on.';

/** Reasons that do not depend on the protocol. */
export const REASONS = {
  unknown:
    'The login is unknown, was used already, took more than 10 minutes, or began in another browser. Start again.',
  disabled: 'Single sign-on was disabled in the meantime.',
  otherTester: 'The test login was started by another user.',
  noEmail: 'The identity provider did not send an email address.',
  invalidEmail: 'The identity provider sent an email address that is not valid.',
  subject: 'The identity provider must identify the person by 1 to 255 printable characters.',
  noTime:
    'The identity provider does not say when the person logged in (the claim auth_time), so the login does not prove that it is recent.',
  unverified:
    'The identity provider did not send a verified email address (see the claim email_verified, and hd of Google).',
  domain: 'The domain of the email address is not a domain that your organization has proved.',
  secondFactorHelps:
    'This action requires a recent login. Add a passkey or a second factor on your account page (log in with your password first), or ask a break-glass owner to perform the action.',
  noUser:
    'The organization has no user with this email address. Invite the person, or let new people become users.',
  notCreated:
    'The user cannot be created: the email address belongs to a user of another organization, or the organization has too many users.',
  linkedElsewhere:
    'The user with this email address is linked to another account at the identity provider. To link the new account, select “Unlink single sign-on” on the page of the user.',
  userDisabled: 'The user is disabled.',
  notApproved:
    'Owners can log in through an identity provider only after an owner has enabled it. Ask an owner to log in with a password, and to disable and enable the identity provider.',
} as const;

/** Characters of the address where people log in: with a request, it must fit into a header. */
export const MAX_ADDRESS_LENGTH = 2_048;

/** Milliseconds by which the clocks of the provider and the service may differ. */
export const CLOCK_TOLERANCE = 2 * MINUTE;

/** The secrets of one login. The browser sees only the state and the nonce. */
export interface LoginSecrets {
  readonly state: string;
  readonly nonce: string;
  /** For PKCE (RFC 7636). */
  readonly verifier: string;
}

/** A person, as an identity provider describes them in a verified response. */
export interface ProviderIdentity {
  readonly issuer: string;
  /** Identifies the person at the issuer and never changes, unlike the address. */
  readonly subject: string;
  /** Whether the case of letters in the subject does not matter. */
  readonly ignoresCase?: boolean;
  readonly email: string | undefined;
  readonly isEmailVerified: boolean;
  /** The name of the person; undefined if the provider does not send it. */
  readonly name: string | undefined;
  /** When the person logged in at the provider; undefined if it does not say. */
  readonly authenticatedAt: Date | undefined;
  /** Why the response does not prove that the person logged in just now; undefined if it does. */
  readonly recencyProblem: string | undefined;
  /** Everything that the provider sent, for the page of a test login. Stored, encrypted, only while a SAML login is in progress. */
  readonly claims: Readonly<Record<string, unknown>>;
}

export interface LoginOptions {
  /** Whether the person has to log in at the provider now, even if they are logged in there. */
  readonly forceLogin: boolean;
  /** The address that the person entered. */
  readonly email?: string;
}

/** Where the browser goes to log in. */
export type BegunRequest = Extract<BegunLogin, { readonly url: string }>;

/** A protocol of identity providers. */
export abstract class IdentityProvider {
  /** Returns the address of ours that the provider sends responses to. */
  abstract address(configurationId: string): string;

  /** Returns where the person logs in. @throws RefusedLogin if the provider cannot be used */
  abstract begin(
    configuration: SsoConfiguration,
    secrets: LoginSecrets,
    options: LoginOptions,
  ): Promise<BegunRequest>;

  /**
   * Verifies the response of a provider.
   *
   * @throws RefusedLogin with the reason
   */
  abstract finish(
    configuration: SsoConfiguration,
    secrets: LoginSecrets,
    response: string,
    startedAt: Date,
  ): Promise<ProviderIdentity>;
}

const MAX_EMAIL_LENGTH = 254;
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
  const isMailbox =
    typeof value === 'string' &&
    value.length <= MAX_EMAIL_LENGTH &&
    !NOT_A_MAILBOX.test(value) &&
    isEmail(value);
  if (!isMailbox) throw new RefusedLogin(REASONS.invalidEmail);
  return value.toLowerCase();
}

/** Returns what identifies the person at the issuer. @throws RefusedLogin unless it has 1 to 255 printable characters */
export function subjectIn(text: string): string {
  if (!SUBJECT.test(text) || text.trim() === '') throw new RefusedLogin(REASONS.subject);
  return text;
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
