import { Injectable } from '@nestjs/common';
import type { ApiError } from '../../../infrastructure/errors/index.js';
import { AttemptLimitsRepository, tooManyAttempts } from '../../../infrastructure/rate-limiting/index.js';
import { DAY } from '../../../infrastructure/time/index.js';
import { MAX_USERS } from './dashboard-user-errors.js';

export const INVITATIONS_PER_MAILBOX = 10;
const TOO_MANY_INVITATIONS = 'There were too many invitations.';

/** Limits invitations, with which an organization could otherwise flood the mailbox of a stranger. */
@Injectable()
export class InvitationLimits {
  private readonly perMailbox = this.limits.limit({
    name: 'invitation-mailbox',
    attempts: INVITATIONS_PER_MAILBOX,
    within: DAY,
  });
  private readonly perOrganization = this.limits.limit({
    name: 'invitation-organization',
    attempts: MAX_USERS,
    within: DAY,
  });

  constructor(private readonly limits: AttemptLimitsRepository) {}

  /**
   * Counts an invitation before the user is added, so that concurrent requests can't exceed a limit. The limit of the
   * mailbox is one per organization, because another organization must not notice it.
   *
   * @param add must run outside of a transaction; if it fails, nothing is sent and the invitation does not count
   * @throws ApiError RATE_LIMIT_EXCEEDED
   */
  async count<T>(organizationId: string, email: string, add: () => Promise<T>): Promise<T> {
    const mailbox = JSON.stringify([organizationId, mailboxOf(email)]);
    const error = (wait: number): ApiError => tooManyAttempts(wait, TOO_MANY_INVITATIONS);
    await this.limits.countAll([
      { limit: this.perMailbox, subject: mailbox, error },
      { limit: this.perOrganization, subject: organizationId, error },
    ]);
    try {
      return await add();
    } catch (error) {
      await Promise.all([this.perMailbox.subtract(mailbox), this.perOrganization.subtract(organizationId)]);
      throw error;
    }
  }
}

/** Returns the address that all its spellings in upper and lower case and with a tag (`ada+tag@…`) deliver to. */
function mailboxOf(email: string): string {
  return email.toLowerCase().replace(/(?<=.)\+.*(?=@)/, '');
}
