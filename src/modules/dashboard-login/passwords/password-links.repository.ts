import { Injectable } from '@nestjs/common';
import { MoreThan } from 'typeorm';
import { Transaction } from '../../../infrastructure/database/index.js';
import { PasswordLink } from './password-link.entity.js';
import { PasswordResetRequest } from './password-reset-request.entity.js';

@Injectable()
export class PasswordLinksRepository {
  constructor(private readonly transaction: Transaction) {}

  /** Replaces an earlier link of the user. */
  async storeLink(link: PasswordLink): Promise<void> {
    await this.transaction.manager.upsert(PasswordLink, link, ['userId']);
  }

  /** Returns the user of the link. */
  async findLink(tokenHash: Buffer, now: Date): Promise<string | undefined> {
    const link = { tokenHash, expiresAt: MoreThan(now) };
    return (await this.transaction.manager.findOneBy(PasswordLink, link))?.userId;
  }

  /** Deletes the link. @returns its user, to only one of several concurrent calls */
  async takeLink(tokenHash: Buffer, now: Date): Promise<string | undefined> {
    const { raw } = await this.transaction.manager
      .createQueryBuilder()
      .delete()
      .from(PasswordLink)
      .where({ tokenHash, expiresAt: MoreThan(now) })
      .returning('user_id')
      .execute();
    return (raw as { user_id: string }[])[0]?.user_id;
  }

  async addRequest(request: PasswordResetRequest): Promise<void> {
    await this.transaction.manager.insert(PasswordResetRequest, request);
  }

  /** Deletes the oldest request and returns it. Concurrent calls get different ones. */
  async takeRequest(): Promise<Pick<PasswordResetRequest, 'id' | 'emailSealed'> | undefined> {
    const [request] = await this.transaction.changedRows<Pick<PasswordResetRequest, 'id' | 'emailSealed'>>(
      `DELETE FROM password_reset_request
        WHERE id IN (SELECT id FROM password_reset_request ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING id, email_sealed AS "emailSealed"`,
      [],
    );
    return request;
  }

  async deleteLinkOf(userId: string): Promise<void> {
    await this.transaction.manager.delete(PasswordLink, { userId });
  }
}
