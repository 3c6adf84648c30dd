import { Injectable } from '@nestjs/common';
import { In, MoreThan, type FindOptionsWhere } from 'typeorm';
import { Transaction } from '../../../infrastructure/database/index.js';
import {
  HoldsUserData,
  type ErasedUser,
  type UserDataHolder,
} from '../../../infrastructure/erasure/index.js';
import {
  AgentAuthorization,
  AgentConnectionCode,
  type AgentAuthorizationStatus,
} from './agent-authorization.entity.js';

const UNDECIDED: AgentAuthorizationStatus[] = ['pending', 'completed', 'confirmed'];

/** More than one, so that a backlog shrinks. */
const EXPIRED_PER_REQUEST = 2;

const ROWS_PER_ERASURE = 1_000;

/** The user of an authorization. */
export type AuthorizedUser = Pick<AgentAuthorization, 'externalUserId' | 'phoneNumberSealed'>;

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
  async add(authorization: AgentAuthorization): Promise<void> {
    await this.transaction.manager.insert(AgentAuthorization, authorization);
    await this.transaction.change(
      `DELETE FROM agent_authorization WHERE id IN (
         SELECT id FROM agent_authorization WHERE expires_at < $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
      [authorization.createdAt, EXPIRED_PER_REQUEST],
    );
  }

  findById(clientId: string, id: string): Promise<AgentAuthorization | null> {
    return this.transaction.manager.findOneBy(AgentAuthorization, { clientId, id });
  }

  /** Stores the user whom the partner named, and the ticket for the user's browser. @returns false unless a user is awaited */
  complete(
    { clientId, id }: Pick<AgentAuthorization, 'clientId' | 'id'>,
    user: AuthorizedUser,
    ticketHash: Buffer,
    now: Date,
  ): Promise<boolean> {
    return this.change(
      { clientId, id, status: 'pending' },
      { ...user, status: 'completed', ticketHash },
      now,
    );
  }

  /** Returns whether the authorization awaits the browser with this ticket. */
  hasTicket(id: string, ticketHash: Buffer, now: Date): Promise<boolean> {
    const where = { id, ticketHash, status: 'completed' as const, expiresAt: MoreThan(now) };
    return this.transaction.manager.existsBy(AgentAuthorization, where);
  }

  /** Stores the user who entered a code, or in the sandbox an ID, in the browser that began. @returns false unless a user is awaited */
  identify(id: string, user: AuthorizedUser, now: Date): Promise<boolean> {
    return this.change({ id, status: 'pending' }, { ...user, status: 'confirmed' }, now);
  }

  /** Uses up the ticket, in the browser that began. */
  confirm(id: string, ticketHash: Buffer, now: Date): Promise<boolean> {
    return this.change({ id, status: 'completed', ticketHash }, { status: 'confirmed' }, now);
  }

  /** Ends an authorization because the ticket came with another browser. */
  endByTicket(id: string, ticketHash: Buffer, now: Date): Promise<boolean> {
    return this.change({ id, status: 'completed', ticketHash }, { status: 'ended' }, now);
  }

  approve(id: string, codeHash: Buffer, codeExpiresAt: Date, now: Date): Promise<boolean> {
    return this.change({ id, status: 'confirmed' }, { status: 'approved', codeHash, codeExpiresAt }, now);
  }

  /** Lets the code of an approved authorization be redeemed for longer. @returns false if it was redeemed or declined */
  extendCode(id: string, codeExpiresAt: Date, now: Date): Promise<boolean> {
    return this.change({ id, status: 'approved' }, { codeExpiresAt }, now);
  }

  decline(id: string, now: Date): Promise<boolean> {
    return this.change({ id, status: In(UNDECIDED) }, { status: 'declined' }, now);
  }

  /** @returns false if a code with this digest exists */
  addCode(code: AgentConnectionCode): Promise<boolean> {
    return this.transaction.insertNew(AgentConnectionCode, code, 'agent_connection_code_pkey');
  }

  /** Returns a connection code that has not expired, and locks its row. */
  lockCode(clientId: string, codeDigest: Buffer, now: Date): Promise<AgentConnectionCode | null> {
    return this.transaction.manager.findOne(AgentConnectionCode, {
      where: { clientId, codeDigest, expiresAt: MoreThan(now) },
      lock: { mode: 'pessimistic_write' },
    });
  }

  async deleteCode(codeDigest: Buffer): Promise<void> {
    await this.transaction.manager.delete(AgentConnectionCode, { codeDigest });
  }

  /** Changes an authorization that has not expired and is in the given state, in one statement. */
  private async change(
    where: FindOptionsWhere<AgentAuthorization>,
    changes: Partial<AgentAuthorization>,
    now: Date,
  ): Promise<boolean> {
    const { affected } = await this.transaction.manager.update(
      AgentAuthorization,
      { ...where, expiresAt: MoreThan(now) },
      changes,
    );
    return affected === 1;
  }
}
