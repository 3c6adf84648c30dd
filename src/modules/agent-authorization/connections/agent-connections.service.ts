import { Injectable } from '@nestjs/common';
import { In, IsNull, MoreThan, Not, type FindOptionsWhere } from 'typeorm';
import { AccessibleClients, type RequestingOrganization } from '../../../infrastructure/auth/index.js';
import { CursorCodec, type CursorScope } from '../../../infrastructure/crypto/index.js';
import { longLists, Transaction, Transactional } from '../../../infrastructure/database/index.js';
import type { AttributedClient, RequestAttribution } from '../../../infrastructure/http/index.js';
import { cutToPage } from '../../../infrastructure/paging/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import type { ClientRecord } from '../../api-clients/index.js';
import { AuditLog, type AuditActor } from '../../audit-logs/index.js';
import { McpTokenRevocationListener } from '../../mcp-tokens/index.js';
import { WebhookPublisher } from '../../webhooks/index.js';
import { labelOf } from '../agents/agent.js';
import { AgentConnection, AgentRefreshToken, type ConnectionEnd } from './agent-connection.entity.js';
import { AgentConnectionsRepository, type EndedConnection } from './agent-connections.repository.js';
import {
  type AgentConnectionListResponse,
  type AgentConnectionResponse,
  type ListAgentConnectionsQuery,
} from './agent-connections.dto.js';
import { AGENT_CONNECTION_NOT_FOUND } from '../agent-authorization-errors.js';
import { RemovedAgent } from './removed-agent.entity.js';

/** More than a client can have registered. */
const MAX_REMOVED = 100;

/** The user or agent that ends a connection. */
export interface EndedBy extends Pick<ConnectionEnd, 'action'> {
  readonly actor: Omit<AuditActor, 'organizationId'>;
}

/** Lists and ends the connections of agents. */
@Injectable()
export class AgentConnectionsService {
  constructor(
    private readonly transaction: Transaction,
    private readonly repository: AgentConnectionsRepository,
    private readonly clients: AccessibleClients,
    private readonly revocations: McpTokenRevocationListener,
    private readonly publisher: WebhookPublisher,
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
    const removed = await this.removedAgents({ clientId });
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
    await this.cancelLinks(client, [connection]);
    await this.announce(connection, endOf(client, by));
    return true;
  }

  /**
   * Ends the connections of an agent that is no longer registered. Their tokens are refused at once. `AgentRemovalsJob` ends some
   * hundreds in a transaction, but each is announced in a transaction of its own (`AgentConnectionEndsJob`): it locks the audit log of
   * the organization, and the horizon of all webhook streams waits for it.
   */
  async endAllOf(client: ClientRecord, agentId: string, by: EndedBy): Promise<void> {
    const { clientId } = client;
    const removed = { agentId, clientId, removedAt: this.clock.now(), removedBy: endOf(client, by) };
    await this.transaction.manager.insert(RemovedAgent, removed);
  }

  /** Returns the IDs of some agents that were removed, and whose connections have yet to end. */
  async removedAgents(where: FindOptionsWhere<RemovedAgent> = {}): Promise<readonly string[]> {
    const order = { removedAt: 'ASC', agentId: 'ASC' } as const;
    const removed = await this.transaction.manager.find(RemovedAgent, { where, order, take: MAX_REMOVED });
    return removed.map(({ agentId }) => agentId);
  }

  /** Ends a page of the connections of a removed agent. @returns false if another process is doing so */
  @Transactional()
  async endPageOf(agentId: string): Promise<boolean> {
    const lock = { mode: 'pessimistic_write', onLocked: 'skip_locked' } as const;
    const removed = await this.transaction.manager.findOne(RemovedAgent, { where: { agentId }, lock });
    if (!removed) return false;
    const ended = await this.repository.endPage(removed, this.clock.now());
    if (ended.length > 0) await this.cancelLinks(removed, ended);
    else await this.transaction.manager.delete(RemovedAgent, { agentId });
    return true;
  }

  /** Returns the IDs of some connections that ended with others, and whose ends were not announced. */
  unannounced(): Promise<readonly string[]> {
    return this.repository.unannounced();
  }

  /** Publishes and records the end of a connection that ended with others, once. */
  @Transactional()
  async announceEnd(id: string): Promise<void> {
    const ended = await this.repository.takeEnded(id);
    if (ended) await this.announce(ended, ended.endedBy);
  }

  private async cancelLinks(
    { clientId }: Pick<ClientRecord, 'clientId'>,
    ended: readonly Pick<AgentConnection, 'id' | 'externalUserId'>[],
  ): Promise<void> {
    const externalUserIds = ended.map(({ externalUserId }) => externalUserId);
    const connectionIds = ended.map(({ id }) => id);
    await this.revocations.onConnectionsEnded({ clientId, externalUserIds, connectionIds });
  }

  private async announce(
    { id, clientId, externalUserId, agentName: name, agentHost: host }: Omit<EndedConnection, 'endedBy'>,
    { action, actor, environment }: ConnectionEnd,
  ): Promise<void> {
    const data = { connection_id: id, agent: { name, host } };
    const event = { event: 'AGENT_DISCONNECTED', externalUserId, data } as const;
    // The audit log first, as when an endpoint is deleted: a publication locks endpoints, and readers of events wait for its end.
    await this.auditLog.record({ action, actor, target: { name: labelOf(name, host), environment } });
    await this.publisher.publish({ clientId, environment }, event);
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

function endOf({ organizationId, environment }: ClientRecord, { action, actor }: EndedBy): ConnectionEnd {
  const { name, email, origin } = actor;
  return { action, environment, actor: { organizationId, name, email, origin } };
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
