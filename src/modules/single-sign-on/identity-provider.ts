import { MINUTE } from '../../infrastructure/time/index.js';
import type { BegunLogin } from '../dashboard-login/index.js';
import type { SsoConfiguration } from './sso-configuration.entity.js';

/** A login that is refused, with the reason in words for the user and for the admins of the organization. */
export class RefusedLogin extends Error {}

/** A login that can begin again without the scopes for roles, which the provider lists but does not allow this client. */
export class RefusedScope extends RefusedLogin {}

/** The remedy for a provider whose logins do not prove that they are recent. */
export const RECENCY_REMEDY =
  'Where a recent login is required, users need a passkey or a second factor of this service: let them add one before you require single sign-on.';

/** Reasons that do not depend on the protocol. */
export const REASONS = {
  unknown:
    'The login is unknown, was used already, took more than 10 minutes, or began in another browser. Start again.',
  disabled: 'Single sign-on was disabled in the meantime.',
  changed: 'The identity provider was changed after the test login began. Test it again.',
  changedMeanwhile: 'The identity provider was changed after the login began. Start again.',
  otherTester: 'The test login was started by another user.',
  testerRole: 'The test login does not count: since it began, you lost the role that it requires.',
  noEmail: 'The identity provider did not send an email address.',
  invalidEmail: 'The identity provider sent an email address that is not valid.',
  subject: 'The identity provider must identify the person by 1 to 255 printable characters.',
  noTime:
    'The identity provider does not say when the person logged in (the claim auth_time), so the login does not prove that it is recent.',
  sessionEnd:
    'The session at the identity provider has ended, or its end is not a valid time (SAML: SessionNotOnOrAfter; OpenID Connect: session_expiry).',
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
  linkNotApproved:
    'Your account was linked through an identity provider that no owner had approved. Ask an admin to unlink it on the page Users, and log in again.',
  notApproved:
    'Owners can log in through an identity provider only after an owner has enabled it. Ask an owner to log in with a password, and to disable and enable the identity provider.',
} as const;

/** Characters of the address where people log in: with a request, it must fit into a header. */
export const MAX_ADDRESS_LENGTH = 2_048;

/** Milliseconds by which the clocks of the provider and the service may differ. */
export const PROVIDER_CLOCK_TOLERANCE = 2 * MINUTE;

/** The secrets of one login. The browser sees only the state and the nonce. */
export interface LoginSecrets {
  readonly state: string;
  readonly nonce: string;
  /** For PKCE (RFC 7636). */
  readonly verifier: string;
  /** False if the provider has refused the scopes for roles. */
  readonly hasRoleScopes?: boolean;
}

/** A person, as an identity provider describes them, and what was trusted when the response was checked. */
export interface VerifiedIdentity extends ProviderIdentity {
  /** Whether an owner had approved the provider. */
  readonly isOwnerApproved: boolean;
  /** The certificates that could have signed the response. Absent if the last release checked it, which may still run. */
  readonly certificates?: readonly string[];
}

/** @throws RefusedLogin if a certificate that may have signed the response is no longer one of the provider */
export function requireCertificates(
  { certificates = [] }: VerifiedIdentity,
  { certificates: current }: SsoConfiguration,
): void {
  if (!certificates.every((each) => current.includes(each))) throw new RefusedLogin(REASONS.changedMeanwhile);
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
  /** When sessions that begin with the login must end; undefined if the provider does not say. */
  readonly sessionEndsAt?: Date | undefined;
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

/** Returns the path where users of the provider begin a login without an address, which a proved domain would need. */
export function loginPath({ id, protocol }: Pick<SsoConfiguration, 'id' | 'protocol'>): string {
  return `/sso/${protocol === 'saml' ? 'saml' : 'oidc'}/${id}/login`;
}

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
