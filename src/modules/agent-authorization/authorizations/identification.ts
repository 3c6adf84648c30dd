/** The purpose of a login. A login for one purpose is never used for another. */
export type Purpose = 'agent' | 'sign_in_link' | 'user_page';

/** A purpose of a login besides agents, and the path of the page that waits for the login. */
export interface PageLogin {
  readonly purpose: Exclude<Purpose, 'agent'>;
  /** The user continues below this path, which no other login leads to. */
  readonly continueAt: string;
}
