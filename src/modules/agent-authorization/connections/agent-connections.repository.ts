import { Injectable } from '@nestjs/common';
import { IsNull, MoreThan } from 'typeorm';
import { Transaction } from '../../../infrastructure/database/index.js';
import {
  HoldsUserData,
  type ErasedUser,
  type UserDataHolder,
} from '../../../infrastructure/erasure/index.js';
import { AgentConnection } from './agent-connection.entity.js';
import { AgentRefreshToken } from './agent-refresh-token.entity.js';

const CONNECTIONS_PER_ERASURE = 100;

/** An access token that may still be valid. */
export type IssuedAccessToken = Pick<AgentRefreshToken, 'accessTokenHash' | 'createdAt'>;

/** Which connections a list contains. */
interface ConnectionFilter {
  readonly clientId: string;
  readonly externalUserId: string | undefined;
  readonly host: string | undefined;
  readonly now: Date;
}

/** The position of a connection in lists. */
type ConnectionPosition = Pick<AgentConnection, 'createdAt' | 'id'>;

@HoldsUserData('access')
@Injectable()
export class AgentConnectionsRepository implements UserDataHolder {
  constructor(private readonly transaction: Transaction) {}

  /** Erases the connections with their tokens. */
  eraseBatch({ clientId, externalUserId }: ErasedUser): Promise<number> {
    return this.transaction.change(
      `DELETE FROM agent_connection WHERE id = ANY (ARRAY(
         SELECT id FROM agent_connection WHERE client_id = $1 AND external_user_id = $2 ORDER BY id LIMIT $3 FOR UPDATE))`,
      [clientId, externalUserId, CONNECTIONS_PER_ERASURE],
    );
  }

  async add(connection: AgentConnection): Promise<void> {
    await this.transaction.manager.insert(AgentConnection, connection);
  }

  /**
   * Postpones the expiry of a connection that is active. Locks its row, so that it cannot end before this transaction does.
   *
   * @returns undefined if the connection has ended or expired, or belongs to another agent or client
   */
  async touch(
    { id, clientId, agentId }: Pick<AgentConnection, 'id' | 'clientId' | 'agentId'>,
    now: Date,
    expiresAt: Date,
  ): Promise<AgentConnection | undefined> {
    const { affected } = await this.transaction.manager
      .createQueryBuilder()
      .update(AgentConnection)
      .set({ usedAt: now, expiresAt })
      .where({ id, clientId, agentId, endedAt: IsNull(), expiresAt: MoreThan(now) })
      .execute();
    return affected === 1 ? this.transaction.manager.findOneByOrFail(AgentConnection, { id }) : undefined;
  }

  /** Returns active connections, newest first, starting after the position `after`. */
  findPage(
    { clientId, externalUserId, host, now }: ConnectionFilter,
    { after, limit }: { readonly after: ConnectionPosition | undefined; readonly limit: number },
  ): Promise<AgentConnection[]> {
    const query = this.transaction.manager
      .createQueryBuilder(AgentConnection, 'connection')
      .where({
        clientId,
        endedAt: IsNull(),
        expiresAt: MoreThan(now),
        ...(externalUserId !== undefined && { externalUserId }),
        ...(host !== undefined && { agentHost: host }),
      })
      .orderBy({ 'connection.createdAt': 'DESC', 'connection.id': 'DESC' })
      .limit(limit);
    if (after) query.andWhere('(connection.createdAt, connection.id) < (:createdAt, :id)', after);
    return query.getMany();
  }

  findByAgent(clientId: string, agentId: string, now: Date): Promise<AgentConnection[]> {
    const where = { clientId, agentId, endedAt: IsNull(), expiresAt: MoreThan(now) };
    return this.transaction.manager.findBy(AgentConnection, where);
  }

  /** Ends a connection that is active. Waits for requests that get tokens at the same time. @returns false if it had ended before */
  async end(id: string, now: Date): Promise<boolean> {
    const { affected } = await this.transaction.manager
      .createQueryBuilder()
      .update(AgentConnection)
      .set({ endedAt: now, expiresAt: now })
      .where({ id, endedAt: IsNull(), expiresAt: MoreThan(now) })
      .execute();
    return affected === 1;
  }

  findById(id: string): Promise<AgentConnection | null> {
    return this.transaction.manager.findOneBy(AgentConnection, { id });
  }

  async addRefreshToken(token: AgentRefreshToken): Promise<void> {
    await this.transaction.manager.insert(AgentRefreshToken, token);
  }

  findRefreshToken(tokenHash: Buffer): Promise<AgentRefreshToken | null> {
    return this.transaction.manager.findOneBy(AgentRefreshToken, { tokenHash });
  }

  findByAccessToken(accessTokenHash: Buffer): Promise<AgentRefreshToken | null> {
    return this.transaction.manager.findOneBy(AgentRefreshToken, { accessTokenHash });
  }

  /** Uses up a refresh token. @returns false if another request has used it before */
  async rotate(tokenHash: Buffer, now: Date): Promise<boolean> {
    const { affected } = await this.transaction.manager.update(
      AgentRefreshToken,
      { tokenHash, rotatedAt: IsNull() },
      { rotatedAt: now },
    );
    return affected === 1;
  }

  /** Returns the access tokens of a connection that have not expired. */
  findAccessTokens(connectionId: string, now: Date): Promise<IssuedAccessToken[]> {
    return this.transaction.manager
      .createQueryBuilder(AgentRefreshToken, 'token')
      .select(['token.tokenHash', 'token.accessTokenHash', 'token.createdAt'])
      .where({ connectionId })
      .andWhere('token.accessExpiresAt > :now', { now })
      .getMany();
  }
}
