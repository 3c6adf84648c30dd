import { Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { IsNull, MoreThan, type FindOptionsWhere } from 'typeorm';
import {
  AccessibleClients,
  isDashboardUser,
  type RequestingOrganization,
} from '../../../infrastructure/auth/index.js';
import { CursorCodec, type CursorScope } from '../../../infrastructure/crypto/index.js';
import { Transaction, Transactional } from '../../../infrastructure/database/index.js';
import type { RequestAttribution, RequestOrigin } from '../../../infrastructure/http/index.js';
import { cutToPage } from '../../../infrastructure/paging/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import type { ClientRecord } from '../../api-clients/index.js';
import { API_CLIENT, AuditLog, type AuditAction } from '../../audit-logs/index.js';
import { McpTokenRevocationListener } from '../../mcp-tokens/index.js';
import { WebhookPublisher } from '../../webhooks/index.js';
import { labelOf } from '../agents/agent.js';
import { AgentConnection, AgentRefreshToken } from './agent-connection.entity.js';
import {
  AGENT_CONNECTION_NOT_FOUND,
  type AgentConnectionListResponse,
  type AgentConnectionResponse,
  type ListAgentConnectionsQuery,
} from './agent-connections.dto.js';

/** Actor of entries about what users of a client do. The audit log does not name them. */
export const AGENT_USER = { name: 'user of an agent', email: 'user of an agent' };

/** Who ended a connection, for the audit log. */
export interface ConnectionEnd {
  readonly action: AuditAction;
  readonly actor: { readonly name: string; readonly email: string; readonly origin: RequestOrigin };
}

/** Lists and ends the connections of agents. */
@Injectable()
export class AgentConnectionsService {
  constructor(
    private readonly transaction: Transaction,
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
    { environment, external_user_id: externalUserId, host, cursor, limit }: ListAgentConnectionsQuery,
    attribution: RequestAttribution = {},
  ): Promise<AgentConnectionListResponse> {
    if (externalUserId !== undefined) attribution.externalUserId = externalUserId;
    const { clientId } = await this.clients.requested(requester, environment);
    const scope: CursorScope = ['agent_connections', clientId, externalUserId ?? '', host ?? ''];
    const [createdAt, id] = cursor === undefined ? [] : this.cursors.decode(cursor, scope);
    const after = createdAt === undefined ? undefined : { createdAt: new Date(createdAt), id: String(id) };
    const query = this.transaction.manager
      .createQueryBuilder(AgentConnection, 'connection')
      .where({
        ...this.active({ clientId }),
        ...(externalUserId !== undefined && { externalUserId }),
        ...(host !== undefined && { agentHost: host }),
      })
      .orderBy({ 'connection.createdAt': 'DESC', 'connection.id': 'DESC' })
      .limit(limit + 1);
    if (after) query.andWhere('(connection.createdAt, connection.id) < (:createdAt, :id)', after);
    const { entries, last } = cutToPage(await query.getMany(), limit);
    return {
      data: entries.map(toResponse),
      next_cursor: last ? this.cursors.encode([last.createdAt.toISOString(), last.id], scope) : null,
    };
  }

  /**
   * Ends a connection for its API client, or for a user of the organization.
   *
   * @throws ApiError NOT_FOUND
   */
  async disconnect(
    requester: RequestingOrganization,
    id: string,
    origin: RequestOrigin,
  ): Promise<AgentConnectionResponse> {
    const isUser = isDashboardUser(requester);
    const clients = isUser ? await this.clients.all(requester) : [requester];
    const found = isUUID(id) ? await this.find(id) : null;
    const client = clients.find(({ clientId }) => clientId === found?.clientId);
    if (!found || !client) throw AGENT_CONNECTION_NOT_FOUND.error();
    const { name, email } = isUser ? requester : API_CLIENT;
    const { organizationId } = requester;
    const end = { action: 'agent.disconnect', actor: { name, email, origin } } as const;
    if (!(await this.end({ ...client, organizationId }, id, end))) throw AGENT_CONNECTION_NOT_FOUND.error();
    return toResponse(found);
  }

  /**
   * Ends a connection, with which its tokens are refused, and cancels the sign-in links that were created with them. Takes the same
   * time for any number of tokens.
   *
   * @returns false if the connection had ended or expired
   */
  @Transactional()
  async end(client: ClientRecord, id: string, { action, actor }: ConnectionEnd): Promise<boolean> {
    const now = this.clock.now();
    // Waits for requests that get tokens at the same time.
    const ended = { endedAt: now, expiresAt: now };
    if (!(await this.transaction.updateRow(AgentConnection, this.active({ id }), ended))) return false;
    const connection = (await this.find(id)) as AgentConnection;
    const { clientId, externalUserId, agentName: name, agentHost: host } = connection;
    await this.revocations.onConnectionEnded({ connectionId: id, clientId, externalUserId });
    await this.publisher.publish(client, {
      event: 'AGENT_DISCONNECTED',
      externalUserId,
      data: { connection_id: id, agent: { name, host } },
    });
    await this.auditLog.record({
      action,
      actor: { ...actor, organizationId: client.organizationId },
      target: { name: labelOf(name, host), environment: client.environment },
    });
    return true;
  }

  /** Ends all connections of an agent that is no longer registered. */
  async endAllOf(client: ClientRecord, agentId: string, end: ConnectionEnd): Promise<void> {
    const { clientId } = client;
    const found = await this.transaction.manager.findBy(AgentConnection, this.active({ clientId, agentId }));
    for (const { id } of found) await this.end(client, id, end);
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
