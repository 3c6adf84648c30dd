import { Injectable } from '@nestjs/common';
import { MoreThan } from 'typeorm';
import { Transaction } from '../../../infrastructure/database/index.js';
import { PasswordLink } from './password-link.entity.js';

@Injectable()
export class PasswordLinksRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Replaces an earlier link of the user. */
  async storeLink(link: PasswordLink): Promise<void> {
    await this.transaction.manager.query(
      `INSERT INTO password_link (token_hash, user_id, expires_at) VALUES ($1, $2, $3)
       ON CONFLICT (user_id) DO UPDATE
          SET token_hash = excluded.token_hash, expires_at = excluded.expires_at`,
      [link.tokenHash, link.userId, link.expiresAt],
    );
  }

  /** Returns the user of the link. */
  async findLink(tokenHash: Buffer, now: Date): Promise<string | undefined> {
    const link = { tokenHash, expiresAt: MoreThan(now) };
    return (await this.transaction.manager.findOneBy(PasswordLink, link))?.userId;
  }

  /** Deletes the link. @returns its user, to only one of several concurrent calls */
  async takeLink(tokenHash: Buffer, now: Date): Promise<string | undefined> {
    const [[row]] = await this.transaction.manager.query<[{ userId: string }[], number]>(
      'DELETE FROM password_link WHERE token_hash = $1 AND expires_at > $2 RETURNING user_id AS "userId"',
      [tokenHash, now],
    );
    return row?.userId;
  }

  async deleteLinkOf(userId: string): Promise<void> {
    await this.transaction.manager.delete(PasswordLink, { userId });
  }
}
