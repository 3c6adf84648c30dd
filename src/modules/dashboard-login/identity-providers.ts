import type { DashboardUser } from '../dashboard-users/index.js';
import type { LoginBrowser, LoginTarget } from './login-form.js';

export interface ProviderLogin extends LoginBrowser {
  readonly email: string;
  readonly target: LoginTarget;
}

/** Where a login continues, or why it cannot. */
export type BegunLogin =
  | {
      readonly url: string;
      /** The fields of the form to send there; undefined for a redirect. */
      readonly fields?: Readonly<Record<string, string>>;
    }
  | { readonly problem: string };

/** The identity providers of organizations. A port that the module `single-sign-on` implements, which builds on this one. */
export abstract class IdentityProviders {
  /** Returns whether an identity provider logs in the users with addresses of this domain. Looks at the domain only. */
  abstract serve(email: string): Promise<boolean>;

  /**
   * Begins a login at the identity provider of the address's domain.
   *
   * @returns undefined if there is none
   * @throws ApiError RATE_LIMIT_EXCEEDED
   */
  abstract begin(login: ProviderLogin): Promise<BegunLogin | undefined>;
}

/** The properties that decide whether a user must log in at an identity provider. */
export type RequiredUser = Pick<DashboardUser, 'id' | 'organizationId' | 'role' | 'isBreakGlass'>;

/** Knows the users who must log in at an identity provider. A port that the module `single-sign-on` implements. */
export abstract class ProviderRequirement {
  /** Returns whether the user may not log in with a password or a passkey. */
  abstract appliesTo(user: RequiredUser): Promise<boolean>;
}
