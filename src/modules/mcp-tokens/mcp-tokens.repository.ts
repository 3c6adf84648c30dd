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
}
