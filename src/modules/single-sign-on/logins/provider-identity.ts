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
  readonly email: string | undefined;
  readonly isEmailVerified: boolean;
  /** When the person logged in at the provider; undefined if it does not say. */
  readonly authenticatedAt: Date | undefined;
  /** Everything that the provider sent, for the page of a test login. Never stored. */
  readonly claims: Readonly<Record<string, unknown>>;
}
