import type { DashboardUser } from './dashboard-user.entity.js';

/** Port through which this module invites users and ends their logins. `dashboard-login` implements it. */
export abstract class UserLogins {
  /**
   * Sends an email with a link to set the first password. Call it after the commit, because an email cannot be rolled
   * back. The email is sent in the background.
   */
  abstract invite(user: DashboardUser): void;

  /** Ends all sessions of the user. Joins the open transaction. */
  abstract end(userId: string): Promise<void>;

  /** Returns when each of the users last logged in. Users who did not log in within a year are absent. */
  abstract lastLogins(userIds: readonly string[]): Promise<ReadonlyMap<string, Date>>;
}
