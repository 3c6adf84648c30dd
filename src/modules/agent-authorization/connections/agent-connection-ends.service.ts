import { Injectable } from '@nestjs/common';
import { Transaction, Transactional } from '../../../infrastructure/database/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import type { ClientRecord } from '../../api-clients/index.js';
import { AuditLog, type AuditActor } from '../../audit-logs/index.js';
import { McpTokenRevocationListener } from '../../mcp-tokens/index.js';
import { WebhookPublisher } from '../../webhooks/index.js';
import { labelOf } from '../agents/agent.js';
import type { AgentConnection, ConnectionEnd } from './agent-connection.entity.js';
import { AgentConnectionsRepository, type EndedConnection } from './agent-connections.repository.js';
import { RemovedAgent } from './removed-agent.entity.js';

/** The user or agent that ends a connection. */
export interface EndedBy extends Pick<ConnectionEnd, 'action'> {
  readonly actor: Omit<AuditActor, 'organizationId'>;
}

/** What the end of a connection entails, and the ends of all connections of an agent that was removed. */
@Injectable()
export class AgentConnectionEndsService {
  constructor(
    private readonly transaction: Transaction,
    private readonly repository: AgentConnectionsRepository,
    private readonly revocations: McpTokenRevocationListener,
    private readonly publisher: WebhookPublisher,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  /**
   * Does what the end of a connection entails, in the transaction that ends it: cancels the sign-in links that were created with its
   * tokens, and records and publishes the end.
   */
  async conclude(client: ClientRecord, connection: AgentConnection, by: EndedBy): Promise<void> {
    await this.cancelLinks(client, [connection]);
    await this.announce(connection, endOf(client, by));
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

  /** Publishes and records the end of a connection that ended with others, once. @returns false if another process is doing so */
  @Transactional()
  async announceEnd(id: string): Promise<boolean> {
    const ended = await this.repository.takeEnded(id);
    if (ended) await this.announce(ended, ended.endedBy);
    return ended !== undefined;
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
}

function endOf({ organizationId, environment }: ClientRecord, { action, actor }: EndedBy): ConnectionEnd {
  const { name, email, origin } = actor;
  return { action, environment, actor: { organizationId, name, email, origin } };
}
