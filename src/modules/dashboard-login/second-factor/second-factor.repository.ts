import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../infrastructure/database/index.js';
import { RecoveryCode } from './recovery-code.entity.js';

@Injectable()
export class SecondFactorRepository {
  constructor(private readonly transaction: Transaction) {}

  async replaceRecoveryCodes(userId: string, digests: readonly Buffer[]): Promise<void> {
    await this.transaction.manager.delete(RecoveryCode, { userId });
    await this.transaction.manager.insert(
      RecoveryCode,
      digests.map((digest) => ({ userId, digest })),
    );
  }

  /** @returns whether the user had this code; true for only one of several concurrent calls */
  async spendRecoveryCode(userId: string, digest: Buffer): Promise<boolean> {
    const { affected } = await this.transaction.manager.delete(RecoveryCode, { userId, digest });
    return affected === 1;
  }

  async countRecoveryCodes(userId: string): Promise<number> {
    return this.transaction.manager.countBy(RecoveryCode, { userId });
  }

  async deleteRecoveryCodes(userId: string): Promise<void> {
    await this.transaction.manager.delete(RecoveryCode, { userId });
  }
}
