import { Injectable } from '@nestjs/common';
import { dayOfSecret, isWellFormedSecret, sha256 } from '../../infrastructure/crypto/index.js';
import { longLists, PartitionRotation, Transaction } from '../../infrastructure/database/index.js';
import { HoldsUserData, type ErasedUser, type UserDataHolder } from '../../infrastructure/erasure/index.js';
import { DAY } from '../../infrastructure/time/index.js';

/** An expired token is kept for another week, so that operators can answer questions about it. */
export const DAYS_KEPT_AFTER_EXPIRY = 7;
const RETENTION = { days: DAYS_KEPT_AFTER_EXPIRY, expiryColumn: 'expires_at' };

const TOKENS_PER_ERASURE = 1_000;
/**
 * The index on client and user does not contain the time of creation, so this limits the work. The list of a user with more tokens
 * may miss some of the newest ones.
 */
const MAX_SEARCHED = 10_000;

/** A token that exists, which says nothing about whether it may be used. */
export interface ExistingMcpToken {
  readonly tokenHash: Buffer;
  readonly clientId: string;
  readonly externalUserId: string;
  readonly connectionId: string | null;
  readonly createdAt: Date;
}

/** A token in a list of the tokens of a user. Nothing in it helps to use a token. */
export interface UserMcpToken {
  readonly id: string;
  /** Name and host of an agent that the user connected; null for a token that an API client created. */
  readonly agent: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly revokedAt: Date | null;
}

/**
 * Port (bound in `src/ports.module.ts`): knows which connections of agents have ended. Their tokens are not revoked one by one, but
 * `find_usable_mcp_tokens` does not find them any more.
 */
export abstract class AgentConnectionStates {
  /** Returns whether the connection has not ended. If so, locks its row until the open transaction ends. */
  abstract lockUnlessEnded(id: string): Promise<boolean>;
  /** Returns when those of the connections ended that have. */
  abstract endsOf(ids: readonly string[]): Promise<Map<string, Date>>;
}

/**
 * The rare statements: erasure, introspection, revocation, sign-in links and the list of a user's tokens. `McpTokensBatch` has those
 * that run for nearly every request. There is no entity, because the rows are written and found for many tokens at a time, in
 * daily partitions.
 *
 * The stage `access` erases tokens before the response to the request for an erasure. From then on, they are unknown to every
 * request.
 */
@HoldsUserData('access')
@Injectable()
export class McpTokensRepository implements UserDataHolder {
  constructor(
    private readonly transaction: Transaction,
    private readonly connections: AgentConnectionStates,
    rotation: PartitionRotation,
  ) {
    rotation.add({ name: 'mcp_token', retention: RETENTION, lock: 'mcp-tokens.rotation' });
  }

  eraseBatch({ clientId, externalUserId }: ErasedUser): Promise<number> {
    return this.transaction.change(
      `DELETE FROM mcp_token WHERE token_hash = ANY (ARRAY(
         SELECT token_hash FROM mcp_token WHERE client_id = $1 AND external_user_id = $2
          ORDER BY token_hash LIMIT $3 FOR UPDATE))`,
      [clientId, externalUserId, TOKENS_PER_ERASURE],
    );
  }

  /**
   * Returns the token, whether or not it may be used now: it may be revoked or expired, its connection may have ended, or its API
   * client may not let agents log in at the moment. A client that revokes a token needs to find it. `McpTokensBatch.find` returns tokens
   * that may be used.
   */
  async findStored(token: string): Promise<ExistingMcpToken | undefined> {
    if (!isWellFormedSecret(token)) return undefined;
    const day = dayOfSecret(token);
    const [row] = await this.transaction.manager.query<ExistingMcpToken[]>(
      `SELECT token_hash AS "tokenHash", client_id AS "clientId", external_user_id AS "externalUserId",
              connection_id AS "connectionId", created_at AS "createdAt"
         FROM mcp_token WHERE token_hash = $1 AND created_at >= $2 AND created_at < $3`,
      [sha256(token), day, new Date(day.getTime() + DAY)],
    );
    return row;
  }

  /**
   * Returns whether the token exists and has not been revoked, and its connection has not ended. If so, locks their rows: a
   * concurrent revocation waits until this transaction ends, and then sees what this transaction wrote. Searches all partitions, so only rare use cases may call it.
   */
  async lockUnlessRevoked(tokenHash: Buffer): Promise<boolean> {
    const [token] = await this.transaction.manager.query<{ connectionId: string | null }[]>(
      'SELECT connection_id AS "connectionId" FROM mcp_token WHERE token_hash = $1 AND revoked_at IS NULL FOR SHARE',
      [tokenHash],
    );
    if (!token?.connectionId) return token !== undefined;
    return this.connections.lockUnlessEnded(token.connectionId);
  }

  /** Returns when an agent first used the token of a connection. `createdAt` limits the search to one partition. */
  async firstUsedAt(tokenHash: Buffer, createdAt: Date): Promise<Date | undefined> {
    const [row] = await this.transaction.manager.query<{ usedAt: Date | null }[]>(
      `SELECT used_at AS "usedAt" FROM mcp_token WHERE token_hash = $1 AND created_at = $2`,
      [tokenHash, createdAt],
    );
    return row?.usedAt ?? undefined;
  }

  /** Returns the newest of the first `MAX_SEARCHED` tokens of a user that are found. */
  async newestOfUser(clientId: string, externalUserId: string, limit: number): Promise<UserMcpToken[]> {
    const tokens = await longLists.run(clientId, () =>
      this.transaction.manager.query<(UserMcpToken & { connectionId: string | null })[]>(
        `SELECT id, agent, created_at AS "createdAt", expires_at AS "expiresAt", revoked_at AS "revokedAt",
                connection_id AS "connectionId"
           FROM (SELECT id, agent, created_at, expires_at, revoked_at, connection_id
                   FROM mcp_token WHERE client_id = $1 AND external_user_id = $2 LIMIT $4) found
          ORDER BY created_at DESC, id DESC LIMIT $3`,
        [clientId, externalUserId, limit, MAX_SEARCHED],
      ),
    );
    const ends = await this.connections.endsOf(tokens.flatMap(({ connectionId }) => connectionId ?? []));
    return tokens.map(({ connectionId, ...token }) => ({
      ...token,
      revokedAt: token.revokedAt ?? ends.get(connectionId ?? '') ?? null,
    }));
  }

  /** Revokes a token. Its time of creation limits the update to one partition. */
  async revoke({ tokenHash, createdAt }: ExistingMcpToken, now: Date): Promise<void> {
    await this.transaction.manager.query(
      `UPDATE mcp_token SET revoked_at = $3 WHERE token_hash = $1 AND created_at = $2 AND revoked_at IS NULL`,
      [tokenHash, createdAt, now],
    );
  }
}
