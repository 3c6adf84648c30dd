import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../infrastructure/database/index.js';
import { DashboardUser } from '../users/dashboard-user.entity.js';
import { RecoveryCode } from './recovery-code.entity.js';

@Injectable()
export class SecondFactorRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Keeps a secret that does not count yet; leaves one that does as it is. */
  async prepare(userId: string, secretSealed: Buffer): Promise<void> {
    await this.query(
      'UPDATE dashboard_user SET totp_secret_sealed = $2 WHERE id = $1 AND totp_enabled_at IS NULL',
      [userId, secretSealed],
    );
  }

  async enable(userId: string, at: Date, step: number): Promise<void> {
    await this.transaction.manager.update(DashboardUser, userId, { totpEnabledAt: at, totpLastStep: step });
  }

  async disable(userId: string): Promise<void> {
    const nothing = { totpSecretSealed: null, totpEnabledAt: null, totpLastStep: null };
    await this.transaction.manager.update(DashboardUser, userId, nothing);
    await this.transaction.manager.delete(RecoveryCode, { userId });
  }

  /** @returns whether the step is a later one than any before; of rivals with the same one it is told to one */
  async acceptStep(userId: string, step: number): Promise<boolean> {
    return this.query(
      `UPDATE dashboard_user SET totp_last_step = $2
        WHERE id = $1 AND totp_enabled_at IS NOT NULL AND (totp_last_step IS NULL OR totp_last_step < $2)`,
      [userId, step],
    );
  }

  async replaceRecoveryCodes(userId: string, digests: readonly Buffer[]): Promise<void> {
    await this.transaction.manager.delete(RecoveryCode, { userId });
    await this.transaction.manager.insert(
      RecoveryCode,
      digests.map((digest) => ({ userId, digest })),
    );
  }

  /** @returns whether the user had this code; of rivals with the same one it is told to one */
  async spendRecoveryCode(userId: string, digest: Buffer): Promise<boolean> {
    const { affected } = await this.transaction.manager.delete(RecoveryCode, { userId, digest });
    return affected === 1;
  }

  async countRecoveryCodes(userId: string): Promise<number> {
    return this.transaction.manager.countBy(RecoveryCode, { userId });
  }

  private async query(statement: string, values: unknown[]): Promise<boolean> {
    const [, count] = await this.transaction.manager.query<[unknown, number]>(statement, values);
    return count === 1;
  }
}
