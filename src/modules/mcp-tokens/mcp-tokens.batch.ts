import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { PlatformEnvironment } from '../../infrastructure/config/index.js';
import { dayOfSecret, isWellFormedSecret } from '../../infrastructure/crypto/index.js';
import {
  BatchedStatement,
  inPositions,
  prepared,
  retryInNewPartition,
  Statement,
  Transaction,
  type Positioned,
} from '../../infrastructure/database/index.js';
import { Clock, DAY, SECOND } from '../../infrastructure/time/index.js';
import { MAX_LIFETIME } from './mcp-tokens.dto.js';
import { DAYS_KEPT_AFTER_EXPIRY } from './mcp-tokens.repository.js';

export interface NewMcpToken {
  /** SHA-256. */
  readonly tokenHash: Buffer;
  readonly clientId: string;
  readonly environment: PlatformEnvironment;
  readonly externalUserId: string;
  /** E.164, encrypted. */
  readonly phoneNumberSealed: Buffer | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface NewAgentToken extends NewMcpToken {
  readonly connectionId: string;
  /** Separated by spaces. */
  readonly scope: string;
  /** Name and host of the agent. */
  readonly agent: string;
}

/** The columns that authenticate an agent's request. */
export interface StoredMcpToken extends Omit<NewMcpToken, 'tokenHash' | 'createdAt'> {
  readonly id: string;
  /** Name and host of an agent that the end user connected; null for a token that an API client created. */
  readonly agent: string | null;
  /** Separated by spaces; null stands for all. */
  readonly scope: string | null;
  /** The connection of such an agent. */
  readonly connectionId: string | null;
  /** Whether an agent has used the token. Stored for tokens of connections only. */
  readonly isUsed: boolean;
}

interface Lookup {
  readonly tokenHash: Buffer;
  /** Start of the day on which the token was created. The token contains it (`generateDatedSecret`). */
  readonly day: Date;
}

/**
 * Maximum number of days between the start of the day on which a token is created and its deletion. The additional day is that
 * of its creation: a daily partition is dropped as a whole, when the last token of the day has been expired for long enough.
 */
const MAX_DAYS_KEPT = (MAX_LIFETIME * SECOND) / DAY + DAYS_KEPT_AFTER_EXPIRY + 1;

const TOKENS_PER_INSERT = 500;
const CONCURRENT_INSERTS = 2;
const LOOKUPS_PER_STATEMENT = 100;
const CONCURRENT_LOOKUP_STATEMENTS = 4;

/** The fields that a token of an API client lacks become null. */
const INSERT = new Statement<object, never, NewMcpToken>(`
  INSERT INTO mcp_token (token_hash, client_id, environment, external_user_id, phone_number_sealed,
                         created_at, expires_at, connection_id, scope, agent)
  SELECT * FROM unnest($tokenHash::bytea[], $clientId::uuid[], $environment::text[], $externalUserId::text[],
                       $phoneNumberSealed::bytea[], $createdAt::timestamptz[], $expiresAt::timestamptz[],
                       $connectionId::uuid[], $scope::text[], $agent::text[])`);

/**
 * Finds MCP tokens of API clients and of connected agents. `find_usable_mcp_tokens` sets planner options so that PostgreSQL plans the
 * query once and reads only the partitions within the given bounds. `place` is the position of the hash in `$1`, starting at 1.
 */
const FIND = prepared(
  `SELECT place AS position, id, client_id AS "clientId", environment, external_user_id AS "externalUserId",
          phone_number_sealed AS "phoneNumberSealed", expires_at AS "expiresAt",
          agent, scope, connection_id AS "connectionId", is_used AS "isUsed"
     FROM find_usable_mcp_tokens($1::bytea[], $2::timestamptz, $3::timestamptz)`,
);
const MARK_USED = prepared(
  `UPDATE mcp_token SET used_at = $2
    WHERE created_at >= $3 AND created_at < $4 AND token_hash = ANY (ARRAY(
      SELECT token_hash FROM mcp_token
       WHERE token_hash = ANY ($1::bytea[]) AND created_at >= $3 AND created_at < $4 AND used_at IS NULL
       FOR UPDATE SKIP LOCKED))`,
);

/**
 * The statements that run for nearly every request: one inserts tokens, another finds them, and a third records the first use of a
 * token of an agent that logged in. Each serves several concurrent requests. `McpTokensRepository` has the statements that are rare.
 *
 * The statements run outside any open transaction, because a rollback for one request must not affect the others. Tokens that are
 * created in a transaction get a statement of their own.
 */
@Injectable()
export class McpTokensBatch {
  private readonly insertion = new BatchedStatement<NewMcpToken>({
    execute: (tokens) => INSERT.run(this.dataSource.manager, {}, tokens),
    maxRows: TOKENS_PER_INSERT,
    maxStatements: CONCURRENT_INSERTS,
    retryAfter: retryInNewPartition,
  });

  private readonly lookups = new BatchedStatement<Lookup, StoredMcpToken | undefined>({
    execute: (lookups) => this.selectByDay(lookups),
    maxRows: LOOKUPS_PER_STATEMENT,
    maxStatements: CONCURRENT_LOOKUP_STATEMENTS,
    isRepeatable: true,
  });

  /**
   * Records that an agent has used the token, unless it had before. Once for each token, so about once an hour. Does not wait for a row
   * that an erasure is deleting; the next request of the agent does so again.
   */
  readonly firstUses = new BatchedStatement<Lookup & { readonly usedAt: Date }>({
    execute: async (uses) => {
      const days = uses.map(({ day }) => day.getTime());
      const hashes = uses.map(({ tokenHash }) => tokenHash);
      const from = timestamp(Math.min(...days));
      const before = timestamp(Math.max(...days) + DAY);
      await this.dataSource.query(MARK_USED, [hashes, uses[0]?.usedAt, from, before]);
    },
    maxRows: LOOKUPS_PER_STATEMENT,
    maxStatements: 1,
  });

  constructor(
    private readonly dataSource: DataSource,
    private readonly transaction: Transaction,
    private readonly clock: Clock,
  ) {}

  /** Returns the stored token, which may have expired, unless it was revoked. */
  async find(token: string, tokenHash: Buffer): Promise<StoredMcpToken | undefined> {
    if (!isWellFormedSecret(token)) return undefined;
    const day = dayOfSecret(token);
    const age = this.clock.milliseconds() - day.getTime();
    // One day of tolerance in both directions: the clock of another process may be ahead, and partitions may be dropped late.
    const isPlausible = age > -DAY && age < (MAX_DAYS_KEPT + 1) * DAY;
    return isPlausible ? this.lookups.add({ tokenHash, day }) : undefined;
  }

  /** Joins the open transaction. Without one, resolves when the token is committed. */
  add(token: NewMcpToken): Promise<void> {
    return this.transaction.isOpen ? this.addAll([token]) : this.insertion.add(token);
  }

  /** Joins the open transaction. */
  async addAll(tokens: readonly NewMcpToken[]): Promise<void> {
    await INSERT.run(this.transaction.manager, {}, tokens);
  }

  /**
   * Executes one statement for each run of adjacent days. Usually there is a single run, because most tokens were created today or
   * yesterday. Searching both days for every token costs less than a statement for each day.
   */
  private async selectByDay(lookups: readonly Lookup[]): Promise<(StoredMcpToken | undefined)[]> {
    const found = new Map<Lookup, StoredMcpToken | undefined>();
    for (const group of groupByConsecutiveDays(lookups)) {
      const days = group.map(({ day }) => day.getTime());
      const bounds = [timestamp(Math.min(...days)), timestamp(Math.max(...days) + DAY)] as const;
      const hashes = group.map(({ tokenHash }) => tokenHash);
      const rows = await this.dataSource.query<(StoredMcpToken & Positioned)[]>(FIND, [hashes, ...bounds]);
      const tokens = inPositions(hashes, rows);
      for (const [index, lookup] of group.entries()) found.set(lookup, tokens[index]);
    }
    return lookups.map((lookup) => found.get(lookup));
  }
}

function groupByConsecutiveDays(lookups: readonly Lookup[]): Lookup[][] {
  const groups: Lookup[][] = [];
  let end = -Infinity;
  for (const lookup of lookups.toSorted((left, right) => left.day.getTime() - right.day.getTime())) {
    const day = lookup.day.getTime();
    if (day <= end) groups.at(-1)?.push(lookup);
    else groups.push([lookup]);
    end = day + DAY;
  }
  return groups;
}

function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
