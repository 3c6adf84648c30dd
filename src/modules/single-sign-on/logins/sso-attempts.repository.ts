import { Injectable } from '@nestjs/common';
import { IsNull, Not, Raw } from 'typeorm';
import { Transaction } from '../../../infrastructure/database/index.js';
import { ProviderLinks } from '../../dashboard-users/index.js';
import { SsoAttempt } from './sso-attempt.entity.js';
import { SsoIdentity } from './sso-identity.entity.js';

/** What a response must match. */
type Expected = Pick<SsoAttempt, 'configurationId' | 'stateHash' | 'browser'>;

const TRIMMED_AT_ONCE = 1_000;
const NOTHING = Buffer.alloc(0);

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
    const { affected } = await this.transaction.manager.delete(SsoIdentity, { userId });
    return affected !== 0;
  }

  async add(attempt: SsoAttempt): Promise<void> {
    await this.transaction.manager.insert(SsoAttempt, attempt);
  }

  /** Uses up an attempt. @returns the attempt, to only one of several concurrent calls */
  async take(
    { configurationId, stateHash, browser }: Expected,
    now: Date,
    begunAfter: Date,
  ): Promise<SsoAttempt | null> {
    const count = await this.transaction.change(
      `UPDATE sso_attempt SET finished_at = $4
        WHERE configuration_id = $1 AND state_hash = $2 AND browser = $3 AND finished_at IS NULL AND created_at > $5`,
      [configurationId, stateHash, browser, now, begunAfter],
    );
    return count === 1 ? this.transaction.manager.findOneBy(SsoAttempt, { stateHash }) : null;
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

  /**
   * Uses up the state of an attempt whose response arrived with a form.
   *
   * @returns the attempt, to only one of several concurrent calls
   */
  async receive(
    { configurationId, stateHash }: Omit<Expected, 'browser'>,
    nextStateHash: Buffer,
    now: Date,
    begunAfter: Date,
  ): Promise<SsoAttempt | null> {
    const count = await this.transaction.change(
      `UPDATE sso_attempt SET state_hash = $3, received_at = $4
        WHERE configuration_id = $1 AND state_hash = $2 AND finished_at IS NULL AND created_at > $5`,
      [configurationId, stateHash, nextStateHash, now, begunAfter],
    );
    return count === 1 ? this.transaction.manager.findOneBy(SsoAttempt, { stateHash: nextStateHash }) : null;
  }

  /** Replaces the secrets of an attempt by what its response says. */
  async seal(id: string, secretsSealed: Buffer): Promise<void> {
    await this.transaction.manager.update(SsoAttempt, { id }, { secretsSealed });
  }

  /** Stores the outcome, and forgets the secrets and what the response said. */
  async settle(
    id: string,
    outcome: Pick<SsoAttempt, 'email' | 'problem'> & Partial<Pick<SsoAttempt, 'finishedAt'>>,
  ): Promise<void> {
    await this.transaction.manager.update(SsoAttempt, { id }, { ...outcome, secretsSealed: NOTHING });
  }

  /** Returns the newest finished attempts first. */
  async listFinished(configurationId: string, limit: number): Promise<SsoAttempt[]> {
    return this.transaction.manager.find(SsoAttempt, {
      where: { configurationId, finishedAt: Not(IsNull()) },
      order: { finishedAt: 'DESC', id: 'ASC' },
      take: limit,
    });
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

  async hasIdentity(userId: string, issuer: string): Promise<boolean> {
    return this.transaction.manager.existsBy(SsoIdentity, { userId, issuer });
  }

  /** @returns false if the account or the user was linked in the meantime */
  async link(identity: SsoIdentity): Promise<boolean> {
    return this.transaction.insertNew(
      SsoIdentity,
      identity,
      'sso_identity_pkey',
      'sso_identity_user_issuer_key',
    );
  }
}
