import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { BatchedStatement } from '../../infrastructure/database/index.js';
import type { McpToken } from './mcp-token.entity.js';

type NewMcpToken = Omit<McpToken, 'id' | 'revokedAt'>;

const ROWS_PER_STATEMENT = 500;
const CONCURRENT_STATEMENTS = 2;

/**
 * Inserts the tokens of concurrent requests in one statement.
 *
 * The statement runs outside any open transaction: it holds rows of several requests, and the transaction of one of
 * them must not decide about the others.
 */
@Injectable()
export class McpTokensBatch {
  private readonly insertion = new BatchedStatement<NewMcpToken>({
    execute: (tokens) => this.insert(tokens),
    maxRows: ROWS_PER_STATEMENT,
    maxStatements: CONCURRENT_STATEMENTS,
  });

  constructor(private readonly dataSource: DataSource) {}

  /** Resolves when the token is committed. */
  add(token: NewMcpToken): Promise<void> {
    return this.insertion.add(token);
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
}
