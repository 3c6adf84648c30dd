import { Injectable } from '@nestjs/common';
import { MoreThan } from 'typeorm';
import { Transaction } from '../../infrastructure/database/index.js';
import { SignInLink } from './sign-in-link.entity.js';

/** The user of a client, whose links no other user or client can see. */
export interface LinkOwner {
  readonly clientId: string;
  readonly externalUserId: string;
}

@Injectable()
export class SignInLinksRepository {
  constructor(private readonly transaction: Transaction) {}

  async add(link: SignInLink): Promise<void> {
    await this.transaction.manager.insert(SignInLink, link);
  }

  async ofOwner({ clientId, externalUserId }: LinkOwner, id: string): Promise<SignInLink | null> {
    return this.transaction.manager.findOneBy(SignInLink, { id, clientId, externalUserId });
  }

  async withToken(tokenHash: Buffer): Promise<SignInLink | null> {
    return this.transaction.manager.findOneBy(SignInLink, { tokenHash });
  }

  /**
   * Counts an attempt to sign in, in one statement, so that concurrent attempts cannot exceed the limit.
   *
   * @returns the number of this attempt; undefined if the link is used up, finished or expired
   */
  async countAttempt(id: string, limit: number, now: Date): Promise<number | undefined> {
    const [[counted]] = await this.transaction.manager.query<[{ attempts: number }[], number]>(
      `UPDATE sign_in_link SET attempts = attempts + 1
        WHERE id = $1 AND status = 'pending' AND expires_at > $2 AND attempts < $3
        RETURNING attempts`,
      [id, now, limit],
    );
    return counted?.attempts;
  }

  async storeChallenge(id: string, challengeSealed: Buffer): Promise<void> {
    await this.transaction.manager.update(SignInLink, { id, status: 'pending' }, { challengeSealed });
  }

  /**
   * Ends a link that is still pending. A concurrent call waits for the transaction of the first.
   *
   * @returns whether this call ended it
   */
  async finish(
    id: string,
    status: 'completed' | 'failed' | 'cancelled',
    now: Date,
    sessionId: string | null = null,
  ): Promise<boolean> {
    const { affected } = await this.transaction.manager.update(
      SignInLink,
      { id, status: 'pending', expiresAt: MoreThan(now) },
      { status, sessionId, finishedAt: now, challengeSealed: null },
    );
    return affected === 1;
  }
}
