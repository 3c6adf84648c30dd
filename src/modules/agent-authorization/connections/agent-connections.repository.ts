import { Injectable } from '@nestjs/common';
import { In, IsNull, Not } from 'typeorm';
import { Transaction } from '../../../infrastructure/database/index.js';
import {
  HoldsUserData,
  type ErasedUser,
  type UserDataHolder,
} from '../../../infrastructure/erasure/index.js';
import type { AgentConnectionStates } from '../../mcp-tokens/index.js';
import { AgentConnection } from './agent-connection.entity.js';

const CONNECTIONS_PER_ERASURE = 100;

/** What other modules ask of connections. The statements that issue tokens are in `agent-tokens.batch.ts`. */
@HoldsUserData('access')
@Injectable()
export class AgentConnectionsRepository implements UserDataHolder, AgentConnectionStates {
  constructor(private readonly transaction: Transaction) {}

  eraseBatch({ clientId, externalUserId }: ErasedUser): Promise<number> {
    return this.transaction.change(
      `DELETE FROM agent_connection WHERE id = ANY (ARRAY(
         SELECT id FROM agent_connection WHERE client_id = $1 AND external_user_id = $2 ORDER BY id LIMIT $3 FOR UPDATE))`,
      [clientId, externalUserId, CONNECTIONS_PER_ERASURE],
    );
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
}
