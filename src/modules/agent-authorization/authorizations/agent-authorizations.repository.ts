import { Injectable } from '@nestjs/common';
import { Transaction, type NewRow } from '../../../infrastructure/database/index.js';
import {
  HoldsUserData,
  type ErasedUser,
  type UserDataHolder,
} from '../../../infrastructure/erasure/index.js';
import { AgentAuthorization } from './agent-authorization.entity.js';

/** More than one, so that a backlog shrinks. */
const EXPIRED_PER_REQUEST = 2;

const ROWS_PER_ERASURE = 1_000;

@HoldsUserData('access')
@Injectable()
export class AgentAuthorizationsRepository implements UserDataHolder {
  constructor(private readonly transaction: Transaction) {}

  async eraseBatch({ clientId, externalUserId }: ErasedUser): Promise<number> {
    const values = [clientId, externalUserId, ROWS_PER_ERASURE];
    const authorizations = await this.transaction.change(
      `DELETE FROM agent_authorization WHERE id = ANY (ARRAY(
         SELECT id FROM agent_authorization WHERE client_id = $1 AND external_user_id = $2 ORDER BY id LIMIT $3))`,
      values,
    );
    const codes = await this.transaction.change(
      `DELETE FROM agent_connection_code WHERE code_digest = ANY (ARRAY(
         SELECT code_digest FROM agent_connection_code WHERE client_id = $1 AND external_user_id = $2
          ORDER BY code_digest LIMIT $3))`,
      values,
    );
    return authorizations + codes;
  }

  /** Stores a request, and deletes expired ones: strangers can begin many requests before the hourly job runs. */
  async add(authorization: NewRow<AgentAuthorization>): Promise<void> {
    await this.transaction.manager.insert(AgentAuthorization, authorization);
    await this.transaction.change(
      `DELETE FROM agent_authorization WHERE id = ANY (ARRAY(
         SELECT id FROM agent_authorization WHERE expires_at < $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED))`,
      [authorization.createdAt, EXPIRED_PER_REQUEST],
    );
  }
}
