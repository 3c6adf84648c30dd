import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { BatchedStatement, prepared } from '../../infrastructure/database/index.js';
import type { McpToken } from './mcp-token.entity.js';

type NewMcpToken = Omit<McpToken, 'id' | 'revokedAt'>;

const ROWS_PER_STATEMENT = 500;
const CONCURRENT_STATEMENTS = 2;
const LOOKUPS_PER_STATEMENT = 100;
const CONCURRENT_LOOKUPS = 4;

const FIND = prepared(
  `SELECT position::integer, id, client_id AS "clientId", environment, external_user_id AS "externalUserId",
          phone_number_sealed AS "phoneNumberSealed", expires_at AS "expiresAt"
     FROM unnest($1::bytea[]) WITH ORDINALITY AS lookup (token_hash, position)
     JOIN mcp_token USING (token_hash)
    WHERE revoked_at IS NULL`,
);

/** The columns that a request of an agent needs. */
type FoundToken = Omit<McpToken, 'tokenHash' | 'createdAt' | 'revokedAt'>;

/**
 * Inserts the tokens of concurrent requests in one statement, and finds tokens in the same way.
 *
 * The statements run outside any open transaction: they serve several requests, and the transaction of one of them must
 * not decide about the others.
 */
@Injectable()
export class McpTokensBatch {
  private readonly insertion = new BatchedStatement<NewMcpToken>({
    execute: (tokens) => this.insert(tokens),
    maxRows: ROWS_PER_STATEMENT,
    maxStatements: CONCURRENT_STATEMENTS,
  });

  private readonly lookups = new BatchedStatement<Buffer, FoundToken | undefined>({
    execute: (hashes) => this.select(hashes),
    maxRows: LOOKUPS_PER_STATEMENT,
    maxStatements: CONCURRENT_LOOKUPS,
  });

  constructor(private readonly dataSource: DataSource) {}

  /** Returns the token with this hash, which may have expired, unless it was revoked. */
  findUnrevoked(tokenHash: Buffer): Promise<FoundToken | undefined> {
    return this.lookups.add(tokenHash);
  }

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

  private async select(hashes: readonly Buffer[]): Promise<(FoundToken | undefined)[]> {
    const rows = await this.dataSource.query<(FoundToken & { position: number })[]>(FIND, [hashes]);
    const found = new Map(rows.map((row) => [row.position, row]));
    return hashes.map((_, index) => found.get(index + 1));
  }
}
