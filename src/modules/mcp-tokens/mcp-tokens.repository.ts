import { Injectable } from '@nestjs/common';
import { IsNull, MoreThan } from 'typeorm';
import { Transaction } from '../../infrastructure/database/index.js';
import { McpToken } from './mcp-token.entity.js';

@Injectable()
export class McpTokensRepository {
  constructor(private readonly transaction: Transaction) {}

  async findActive(tokenHash: Buffer, clientId: string, now: Date): Promise<McpToken | null> {
    return this.transaction.manager.findOneBy(McpToken, {
      tokenHash,
      clientId,
      revokedAt: IsNull(),
      expiresAt: MoreThan(now),
    });
  }

  async revoke(tokenHash: Buffer, clientId: string, now: Date): Promise<void> {
    const unrevoked = { tokenHash, clientId, revokedAt: IsNull() };
    await this.transaction.manager.update(McpToken, unrevoked, { revokedAt: now });
  }

  /** Deletes tokens that expired before the time given, a batch at most. @returns how many */
  async deleteExpired(before: Date, batch: number): Promise<number> {
    const [, count] = await this.transaction.manager.query<[unknown, number]>(
      `DELETE FROM mcp_token
        WHERE id IN (SELECT id FROM mcp_token WHERE expires_at < $1 ORDER BY expires_at LIMIT $2
                        FOR UPDATE SKIP LOCKED)`,
      [before, batch],
    );
    return count;
  }
}
