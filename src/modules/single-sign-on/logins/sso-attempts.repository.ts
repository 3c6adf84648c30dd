import { Injectable } from '@nestjs/common';
import { Raw } from 'typeorm';
import { Transaction } from '../../../infrastructure/database/index.js';
import { ProviderLinks } from '../../dashboard-users/index.js';
import { SsoIdentity } from '../sso-attempt.entity.js';

const TRIMMED_AT_ONCE = 1_000;
/** Whether nothing says whose attempt it is. Strangers who have no account at the provider can make such attempts. */
const IS_ANONYMOUS = 'email IS NULL AND tester_id IS NULL';

/** Returns a query for the time of the oldest of the finished attempts that are kept; `$3` is their number minus one. */
const oldestKept = (condition: string): string =>
  `(SELECT finished_at FROM sso_attempt WHERE configuration_id = $1 AND finished_at IS NOT NULL AND ${condition}
     ORDER BY finished_at DESC OFFSET $3 LIMIT 1)`;

/** Logins at identity providers, and the links that they create. Implements the port `ProviderLinks`. */
@Injectable()
export class SsoAttemptsRepository extends ProviderLinks {
  constructor(private readonly transaction: Transaction) {
    super();
  }

  override isLinked(userId: string): Promise<boolean> {
    return this.transaction.manager.existsBy(SsoIdentity, { userId });
  }

  override async unlink(userId: string): Promise<boolean> {
    return (await this.transaction.manager.delete(SsoIdentity, { userId })).affected !== 0;
  }

  /**
   * Deletes what is no longer needed of a configuration: attempts that were not finished in time, and finished ones that no page
   * shows. This keeps strangers from filling the table by beginning logins.
   *
   * @param shown number of finished attempts to keep: of those with an email address or a tester, and as many of the others, so that
   * strangers without an account at the provider cannot remove the former
   */
  async trim(configurationId: string, begunBefore: Date, shown: number): Promise<void> {
    await this.transaction.change(
      `DELETE FROM sso_attempt WHERE id = ANY (ARRAY(
         SELECT id FROM sso_attempt
          WHERE configuration_id = $1
            AND (finished_at IS NULL AND created_at <= $2
                 OR finished_at < CASE WHEN ${IS_ANONYMOUS} THEN ${oldestKept(IS_ANONYMOUS)}
                                       ELSE ${oldestKept(`NOT (${IS_ANONYMOUS})`)} END)
          LIMIT ${TRIMMED_AT_ONCE} FOR UPDATE SKIP LOCKED))`,
      [configurationId, begunBefore, shown - 1],
    );
  }

  /** @param identity.ignoresCase whether a link whose subject differs only in the case of letters is the same */
  async findIdentity({
    organizationId,
    issuer,
    subject,
    ignoresCase = false,
  }: Pick<SsoIdentity, 'organizationId' | 'issuer' | 'subject'> & {
    readonly ignoresCase?: boolean | undefined;
  }): Promise<SsoIdentity | null> {
    const { manager } = this.transaction;
    const exact = await manager.findOneBy(SsoIdentity, { organizationId, issuer, subject });
    if (exact || !ignoresCase) return exact;
    const anyCase = Raw((column) => `lower(${column}) = lower(:subject)`, { subject });
    const where = { organizationId, issuer, subject: anyCase };
    return manager.findOne(SsoIdentity, { where, order: { linkedAt: 'ASC' } });
  }
}
