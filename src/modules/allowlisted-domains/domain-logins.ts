/** The logins that depend on proved domains. A port that the module `single-sign-on` implements, which builds on this one. */
export abstract class DomainLogins {
  /** Returns how users with addresses in a domain log in once it is no longer proved, in words. */
  abstract withoutProof(organizationId: string, domain: string): Promise<string>;

  /** Tells owners and admins that the record of a domain is missing, once. Joins the open transaction. */
  abstract announceMissing(proof: MissingProof): Promise<void>;
}

export interface MissingProof {
  readonly id: string;
  readonly organizationId: string;
  readonly domain: string;
  readonly since: Date;
  /** When the domain is no longer proved, unless the record is found before. */
  readonly endsAt: Date;
}
