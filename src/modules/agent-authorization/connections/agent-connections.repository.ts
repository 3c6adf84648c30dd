import { Injectable } from '@nestjs/common';
import { In, IsNull, MoreThan, Not } from 'typeorm';
import { Transaction } from '../../../infrastructure/database/index.js';
import {
  HoldsUserData,
  type ErasedUser,
  type UserDataHolder,
} from '../../../infrastructure/erasure/index.js';
import type { AgentConnectionStates } from '../../mcp-tokens/index.js';
import { AgentConnection, AgentRefreshToken } from './agent-connection.entity.js';

const CONNECTIONS_PER_ERASURE = 100;

/** Which connections a list contains. */
interface ConnectionFilter {
  readonly clientId: string;
  readonly externalUserId: string | undefined;
  readonly host: string | undefined;
  readonly now: Date;
}

/** The position of a connection in lists. */
type ConnectionPosition = Pick<AgentConnection, 'createdAt' | 'id'>;

/** Finds and ends connections, and finds their tokens. The statements that issue tokens are in `agent-tokens.batch.ts`. */
@HoldsUserData('access')
@Injectable()
export class AgentConnectionsRepository implements UserDataHolder, AgentConnectionStates {
  constructor(private readonly transaction: Transaction) {}

  /** Erases the connections with their tokens. */
  eraseBatch({ clientId, externalUserId }: ErasedUser): Promise<number> {
    return this.transaction.change(
      `DELETE FROM agent_connection WHERE id = ANY (ARRAY(
         SELECT id FROM agent_connection WHERE client_id = $1 AND external_user_id = $2 ORDER BY id LIMIT $3 FOR UPDATE))`,
      [clientId, externalUserId, CONNECTIONS_PER_ERASURE],
    );
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

  async lockUnlessEnded(id: string): Promise<boolean> {
    const where = { id, endedAt: IsNull() };
    const lock = { mode: 'pessimistic_read' as const };
    return (await this.transaction.manager.findOne(AgentConnection, { where, lock })) !== null;
  }

  async endsOf(ids: readonly string[]): Promise<Map<string, Date>> {
    const where = { id: In([...ids]), endedAt: Not(IsNull()) };
    const ended = ids.length === 0 ? [] : await this.transaction.manager.findBy(AgentConnection, where);
    return new Map(ended.map(({ id, endedAt }) => [id, endedAt as Date]));
  }

  findById(id: string): Promise<AgentConnection | null> {
    return this.transaction.manager.findOneBy(AgentConnection, { id });
  }

  findToken(tokenHash: Buffer): Promise<AgentRefreshToken | null> {
    return this.transaction.manager.findOneBy(AgentRefreshToken, { tokenHash });
  }
}
