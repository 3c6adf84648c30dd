import { Injectable } from '@nestjs/common';
import { In, IsNull, Not } from 'typeorm';
import { Transaction } from '../../../infrastructure/database/index.js';
import {
  HoldsUserData,
  type ErasedUser,
  type UserDataHolder,
} from '../../../infrastructure/erasure/index.js';
import type { AgentConnectionStates } from '../../mcp-tokens/index.js';
import { AgentConnection, type ConnectionEnd } from './agent-connection.entity.js';
import type { RemovedAgent } from './removed-agent.entity.js';

const CONNECTIONS_PER_ERASURE = 100;
const CONNECTIONS_PER_PAGE = 500;
/** More than a client can have registered. */
const MAX_REMOVED = 100;

/** A connection that ended together with others. */
export type EndedConnection = Pick<
  AgentConnection,
  'id' | 'clientId' | 'externalUserId' | 'agentName' | 'agentHost'
> & { readonly endedBy: ConnectionEnd };

/** Queries about connections. The statements that issue tokens are in `agent-tokens.batch.ts`. */
@HoldsUserData('access')
@Injectable()
export class AgentConnectionsRepository implements UserDataHolder, AgentConnectionStates {
  constructor(private readonly transaction: Transaction) {}

  eraseBatch({ clientId, externalUserId }: ErasedUser): Promise<number> {
    return this.transaction.change(
      `DELETE FROM agent_connection WHERE id = ANY (ARRAY(
         SELECT id FROM agent_connection WHERE client_id = $1 AND external_user_id = $2
          ORDER BY created_at, id LIMIT $3 FOR UPDATE))`,
      [clientId, externalUserId, CONNECTIONS_PER_ERASURE],
    );
  }

  /** Returns the number of active connections of each user who has one. */
  async countsOf(
    clientId: string,
    users: readonly string[],
    now: Date,
  ): Promise<ReadonlyMap<string, number>> {
    const rows = await this.transaction.manager.query<{ user: string; agents: number }[]>(
      `SELECT external_user_id AS user, count(*)::int AS agents FROM agent_connection
        WHERE client_id = $1 AND external_user_id = ANY ($2) AND ended_at IS NULL AND expires_at > $3 GROUP BY 1`,
      [clientId, users, now],
    );
    return new Map(rows.map(({ user, agents }) => [user, agents]));
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

  /** Returns the IDs of some agents that were removed, of one client or of all, and whose connections have yet to end. Clients take turns. */
  async removedAgents(clientId: string | null = null): Promise<string[]> {
    const rows = await this.transaction.manager.query<{ agentId: string }[]>(
      `SELECT agent_id AS "agentId" FROM removed_agent WHERE $1::uuid IS NULL OR client_id = $1
        ORDER BY row_number() OVER (PARTITION BY client_id ORDER BY removed_at, agent_id), removed_at, agent_id
        LIMIT ${MAX_REMOVED}`,
      [clientId],
    );
    return rows.map(({ agentId }) => agentId);
  }

  /** Ends a page of the connections of an agent. @returns the ended ones */
  endPage(
    { clientId, agentId, removedBy }: RemovedAgent,
    now: Date,
  ): Promise<Pick<AgentConnection, 'id' | 'externalUserId'>[]> {
    return this.transaction.changedRows(
      `UPDATE agent_connection SET ended_at = $3, expires_at = $3, ended_by = $4
        WHERE id = ANY (ARRAY(
          SELECT id FROM agent_connection
           WHERE client_id = $1 AND agent_id = $2 AND ended_at IS NULL AND expires_at > $3
           ORDER BY created_at, id LIMIT ${CONNECTIONS_PER_PAGE} FOR UPDATE))
        RETURNING id, external_user_id AS "externalUserId"`,
      [clientId, agentId, now, JSON.stringify(removedBy)],
    );
  }

  /** Returns the IDs of connections whose ends have yet to be announced. Clients take turns. */
  async unannounced(): Promise<string[]> {
    // The recursion reads one row of the index for each client, and then a page of each.
    const rows = await this.transaction.manager.query<{ id: string }[]>(
      `WITH RECURSIVE client (id) AS (
         (SELECT client_id FROM agent_connection WHERE ended_by IS NOT NULL ORDER BY client_id LIMIT 1)
         UNION ALL
         SELECT (SELECT client_id FROM agent_connection WHERE ended_by IS NOT NULL AND client_id > client.id
                  ORDER BY client_id LIMIT 1)
           FROM client WHERE id IS NOT NULL)
       SELECT own.id FROM client
        CROSS JOIN LATERAL (
                SELECT id, row_number() OVER (ORDER BY ended_at, id) AS turn
                  FROM agent_connection WHERE client_id = client.id AND ended_by IS NOT NULL
                 ORDER BY ended_at, id LIMIT ${CONNECTIONS_PER_PAGE}) own
        ORDER BY turn, own.id LIMIT ${CONNECTIONS_PER_PAGE}`,
    );
    return rows.map(({ id }) => id);
  }

  /** Returns a connection whose end has yet to be announced, to only one of several concurrent calls. */
  async takeEnded(id: string): Promise<EndedConnection | undefined> {
    const [ended] = await this.transaction.changedRows<EndedConnection>(
      `UPDATE agent_connection connection SET ended_by = NULL
         FROM (SELECT id, ended_by FROM agent_connection WHERE id = $1 AND ended_by IS NOT NULL
                FOR UPDATE SKIP LOCKED) ended
        WHERE connection.id = ended.id
        RETURNING connection.id, client_id AS "clientId", external_user_id AS "externalUserId",
                  agent_name AS "agentName", agent_host AS "agentHost", ended.ended_by AS "endedBy"`,
      [id],
    );
    return ended;
  }
}
