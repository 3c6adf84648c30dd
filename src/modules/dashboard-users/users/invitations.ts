/** Who is invited. */
export interface Invited {
  readonly id: string;
  readonly email: string;
  readonly name: string;
}

/** Port: tells people that they were added, and how they get in. */
export abstract class Invitations {
  abstract invite(user: Invited): Promise<void>;
}
