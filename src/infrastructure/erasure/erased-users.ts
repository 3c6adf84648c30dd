/** Something about a user that is written later than it happened. */
export interface UserEntry {
  readonly clientId: string;
  readonly externalUserId: string | null;
  readonly createdAt: Date;
}

/** Port: keeps late writers from storing the identifiers of users who were erased meanwhile. */
export abstract class ErasedUsers {
  /** Returns the entries with a pseudonym in place of each user who was erased after the entry was created. */
  abstract pseudonymize<Entry extends UserEntry>(entries: readonly Entry[]): Promise<readonly Entry[]>;
}
