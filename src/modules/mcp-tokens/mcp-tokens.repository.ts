import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, MoreThan } from 'typeorm';
import { BatchedStatement } from '../../infrastructure/database/index.js';
import { McpToken } from './mcp-token.entity.js';

export type NewMcpToken = Omit<McpToken, 'id' | 'revokedAt'>;

const ROWS_PER_STATEMENT = 500;
const STATEMENTS_AT_ONCE = 2;

@Injectable()
export class McpTokensRepository {
  private readonly insertion = new BatchedStatement<NewMcpToken>({
    execute: (tokens) => this.insert(tokens),
    maxRows: ROWS_PER_STATEMENT,
    maxStatements: STATEMENTS_AT_ONCE,
  });

  constructor(private readonly dataSource: DataSource) {}

  /** Resolves when the token is committed. Tokens that are created together share a statement. */
  async add(token: NewMcpToken): Promise<void> {
    await this.insertion.add(token);
  }

  private async insert(tokens: readonly NewMcpToken[]): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO mcp_token (token_hash, client_id, environment, external_user_id, phone_number_sealed,
                              created_at, expires_at)
       SELECT * FROM unnest($1::bytea[], $2::uuid[], $3::text[], $4::text[], $5::bytea[],
                            $6::timestamptz[], $7::timestamptz[])`,
      [
        tokens.map((token) => token.tokenHash),
        tokens.map((token) => token.clientId),
        tokens.map((token) => token.environment),
        tokens.map((token) => token.externalUserId),
        tokens.map((token) => token.phoneNumberSealed),
        tokens.map((token) => token.createdAt),
        tokens.map((token) => token.expiresAt),
      ],
    );
  }

  async findActive(tokenHash: Buffer, clientId: string, now: Date): Promise<McpToken | null> {
    const live = { tokenHash, clientId, revokedAt: IsNull(), expiresAt: MoreThan(now) };
    return this.dataSource.manager.findOneBy(McpToken, live);
  }

  async revoke(tokenHash: Buffer, clientId: string, now: Date): Promise<void> {
    const good = { tokenHash, clientId, revokedAt: IsNull() };
    await this.dataSource.manager.update(McpToken, good, { revokedAt: now });
  }

  /** Deletes tokens that expired before the time given, a batch at most. @returns how many */
  async deleteExpired(before: Date, batch: number): Promise<number> {
    const [, count] = await this.dataSource.query<[unknown, number]>(
      `DELETE FROM mcp_token
        WHERE id IN (SELECT id FROM mcp_token WHERE expires_at < $1 ORDER BY expires_at LIMIT $2
                        FOR UPDATE SKIP LOCKED)`,
      [before, batch],
    );
    return count;
  }
}
