import { Injectable } from '@nestjs/common';
import { Raw } from 'typeorm';
import { Transaction } from '../../../infrastructure/database/index.js';
import { ProviderLinks } from '../../dashboard-users/index.js';
import { SsoIdentity } from '../sso-attempt.entity.js';

const TRIMMED_AT_ONCE = 1_000;

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
   * @param shown number of finished attempts to keep
   */
  async trim(configurationId: string, begunBefore: Date, shown: number): Promise<void> {
    await this.transaction.change(
      `DELETE FROM sso_attempt WHERE id = ANY (ARRAY(
         SELECT id FROM sso_attempt
          WHERE configuration_id = $1
            AND (finished_at IS NULL AND created_at <= $2
                 OR finished_at < (SELECT finished_at FROM sso_attempt WHERE configuration_id = $1 AND finished_at IS NOT NULL
                                    ORDER BY finished_at DESC OFFSET $3 LIMIT 1))
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
