import { Injectable } from '@nestjs/common';
import { MoreThan } from 'typeorm';
import { Transaction } from '../../../infrastructure/database/index.js';
import { Passkey, PasskeyChallenge } from './passkey.entity.js';

/** How often a passkey has signed, according to what it signed. */
export interface SignatureCounter {
  readonly value: number;
  /** Whether the passkey can be copied to the other devices of its user, as password managers do. */
  readonly isSynced: boolean;
}

@Injectable()
export class PasskeysRepository {
  constructor(private readonly transaction: Transaction) {}

  async storeChallenge(challenge: PasskeyChallenge): Promise<void> {
    await this.transaction.manager.insert(PasskeyChallenge, challenge);
  }

  /** @returns whether the owner had this challenge; true for only one of several concurrent calls */
  async takeChallenge(challenge: Buffer, owner: Buffer, now: Date): Promise<boolean> {
    const unexpired = { challenge, owner, expiresAt: MoreThan(now) };
    const { affected } = await this.transaction.manager.delete(PasskeyChallenge, unexpired);
    return affected === 1;
  }

  /** Returns the oldest passkey first. */
  async list(userId: string): Promise<Passkey[]> {
    return this.transaction.manager.find(Passkey, {
      where: { userId },
      order: { createdAt: 'ASC', id: 'ASC' },
    });
  }

  async count(userId: string): Promise<number> {
    return this.transaction.manager.countBy(Passkey, { userId });
  }

  async find(passkey: Partial<Pick<Passkey, 'id' | 'userId' | 'credentialId'>>): Promise<Passkey | null> {
    return this.transaction.manager.findOneBy(Passkey, passkey);
  }

  /** @returns false if the credential belongs to a passkey already */
  async add(passkey: Passkey): Promise<boolean> {
    return this.transaction.insertNew(Passkey, passkey, 'passkey_credential_id_key');
  }

  /** @returns false if the passkey was removed */
  async rename(id: string, name: string): Promise<boolean> {
    const { affected } = await this.transaction.manager.update(Passkey, { id }, { name });
    return affected === 1;
  }

  /** @returns how many passkeys were removed */
  async remove(passkey: Partial<Pick<Passkey, 'id' | 'userId'>>): Promise<number> {
    const { affected } = await this.transaction.manager.delete(Passkey, passkey);
    return affected ?? 0;
  }

  /**
   * Stores the counter of a login. A counter that did not increase shows that the private key was copied, unless the device
   * does not count, or the key is meant to be on several devices, each of which counts for itself.
   *
   * @returns false if the counter did not increase, or the passkey was removed
   */
  async advance(id: string, { value, isSynced }: SignatureCounter, usedAt: Date): Promise<boolean> {
    const count = await this.transaction.change(
      `UPDATE passkey SET counter = $2, used_at = $3
        WHERE id = $1 AND (counter < $2 OR (counter = 0 AND $2 = 0) OR $4)`,
      [id, value, usedAt, isSynced],
    );
    return count === 1;
  }
}
