import { Injectable } from '@nestjs/common';
import { IsNull, MoreThan } from 'typeorm';
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

  /** @param usedBy the browser that used the link; null for a link that was not used */
  async findLink(tokenHash: Buffer, usedBy: Buffer | null, now: Date): Promise<PasswordLink | null> {
    const link = { tokenHash, usedBy: usedBy ?? IsNull(), expiresAt: MoreThan(now) };
    return this.transaction.manager.findOneBy(PasswordLink, link);
  }

  /** Uses up the link. @returns its user, to only one of several concurrent calls */
  async takeLink(tokenHash: Buffer, usedBy: Buffer, now: Date): Promise<string | undefined> {
    const unused = { tokenHash, usedBy: IsNull(), expiresAt: MoreThan(now) };
    const { affected } = await this.transaction.manager.update(PasswordLink, unused, { usedBy });
    return affected === 1 ? (await this.findLink(tokenHash, usedBy, now))?.userId : undefined;
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
