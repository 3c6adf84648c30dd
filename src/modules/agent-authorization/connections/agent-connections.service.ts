import { Injectable } from '@nestjs/common';
import { In, IsNull, MoreThan, Not, type FindOptionsWhere } from 'typeorm';
import { AccessibleClients, type RequestingOrganization } from '../../../infrastructure/auth/index.js';
import { CursorCodec, type CursorScope } from '../../../infrastructure/crypto/index.js';
import { longLists, Transaction, Transactional } from '../../../infrastructure/database/index.js';
import type { AttributedClient, RequestAttribution } from '../../../infrastructure/http/index.js';
import { cutToPage } from '../../../infrastructure/paging/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import type { ClientRecord } from '../../api-clients/index.js';
import { AuditLog } from '../../audit-logs/index.js';
import { AgentConnectionEndsService, type EndedBy } from './agent-connection-ends.service.js';
import { AgentConnection, AgentRefreshToken } from './agent-connection.entity.js';
import {
  type AgentConnectionListResponse,
  type AgentConnectionResponse,
  type ListAgentConnectionsQuery,
} from './agent-connections.dto.js';
import { AgentConnectionsRepository } from './agent-connections.repository.js';
import { AGENT_CONNECTION_NOT_FOUND } from '../agent-authorization-errors.js';

/** Lists and ends the connections of agents. */
@Injectable()
export class AgentConnectionsService {
  constructor(
    private readonly transaction: Transaction,
    private readonly clients: AccessibleClients,
    private readonly connections: AgentConnectionsRepository,
    private readonly ends: AgentConnectionEndsService,
    private readonly auditLog: AuditLog,
    private readonly cursors: CursorCodec,
    private readonly clock: Clock,
  ) {}

  /** @throws ApiError INVALID_CURSOR_FORMAT, or like `AccessibleClients.requested()` */
  async list(
    requester: RequestingOrganization,
    { environment, ...query }: ListAgentConnectionsQuery,
    attribution: RequestAttribution = {},
  ): Promise<AgentConnectionListResponse> {
    const { external_user_id: externalUserId } = query;
    if (externalUserId !== undefined) attribution.externalUserId = externalUserId;
    return this.listOf(await this.clients.requested(requester, environment), query);
  }

  /** Returns a page of the connections of an API client, the newest first. @throws ApiError INVALID_CURSOR_FORMAT */
  async listOf(
    { clientId }: Pick<AttributedClient, 'clientId'>,
    { external_user_id: externalUserId, host, cursor, limit }: Omit<ListAgentConnectionsQuery, 'environment'>,
  ): Promise<AgentConnectionListResponse> {
    const scope: CursorScope = ['agent_connections', clientId, externalUserId ?? '', host ?? ''];
    const [createdAt, id] = cursor === undefined ? [] : this.cursors.decode(cursor, scope);
    const after = createdAt === undefined ? undefined : { createdAt: new Date(createdAt), id: String(id) };
    // The tokens of their connections are refused already.
    const removed = await this.connections.removedAgents(clientId);
    const query = this.transaction.manager
      .createQueryBuilder(AgentConnection, 'connection')
      .where({
        ...this.active({ clientId }),
        ...(externalUserId !== undefined && { externalUserId }),
        ...(host !== undefined && { agentHost: host }),
        ...(removed.length > 0 && { agentId: Not(In(removed)) }),
      })
      .orderBy({ 'connection.createdAt': 'DESC', 'connection.id': 'DESC' })
      .limit(limit + 1);
    if (after) query.andWhere('(connection.createdAt, connection.id) < (:createdAt, :id)', after);
    const { entries, last } = cutToPage(await longLists.run(clientId, () => query.getMany()), limit);
    return {
      data: entries.map(toResponse),
      next_cursor: last ? this.cursors.encode([last.createdAt.toISOString(), last.id], scope) : null,
      limit,
    };
  }

  /** Returns a connection of the API client, also one that has ended. @throws ApiError NOT_FOUND */
  async require({ clientId }: AttributedClient, id: string): Promise<AgentConnection> {
    const found = await this.transaction.findById(AgentConnection, { id, clientId });
    return AGENT_CONNECTION_NOT_FOUND.requireFound(found);
  }

  /**
   * Ends a connection of the API client.
   *
   * @throws ApiError NOT_FOUND
   */
  async disconnect(
    client: ClientRecord,
    id: string,
    actor: EndedBy['actor'],
  ): Promise<AgentConnectionResponse> {
    const found = await this.require(client, id);
    if (!(await this.end(client, id, { action: 'agent.disconnect', actor })))
      throw AGENT_CONNECTION_NOT_FOUND.error();
    return toResponse(found);
  }

  /**
   * Ends a connection, with which its tokens are refused, and cancels the sign-in links that were created with them. Takes the same
   * time for any number of tokens.
   *
   * @returns false if the connection had ended or expired
   */
  end(client: ClientRecord, id: string, by: EndedBy): Promise<boolean> {
    return this.auditLog.inTurn(client.organizationId, () => this.endOne(client, id, by));
  }

  @Transactional()
  protected async endOne(client: ClientRecord, id: string, by: EndedBy): Promise<boolean> {
    const now = this.clock.now();
    // Waits for requests that get tokens at the same time.
    const ended = { endedAt: now, expiresAt: now };
    if (!(await this.transaction.updateRow(AgentConnection, this.active({ id }), ended))) return false;
    await this.auditLog.requireRights(by.actor);
    const connection = (await this.find(id)) as AgentConnection;
    await this.ends.conclude(client, connection, by);
    return true;
  }

  find(id: string): Promise<AgentConnection | null> {
    return this.transaction.manager.findOneBy(AgentConnection, { id });
  }

  findToken(tokenHash: Buffer): Promise<AgentRefreshToken | null> {
    return this.transaction.manager.findOneBy(AgentRefreshToken, { tokenHash });
  }

  private active(where: FindOptionsWhere<AgentConnection>): FindOptionsWhere<AgentConnection> {
    return { ...where, endedAt: IsNull(), expiresAt: MoreThan(this.clock.now()) };
  }
}

function toResponse(connection: AgentConnection): AgentConnectionResponse {
  return {
    id: connection.id,
    external_user_id: connection.externalUserId,
    agent: { name: connection.agentName, host: connection.agentHost },
    scopes: connection.scopes,
    created_at: connection.createdAt,
    last_used_at: connection.usedAt,
    expires_at: connection.expiresAt,
  };
}
