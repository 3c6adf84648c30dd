import { Injectable } from '@nestjs/common';
import type { RequestOrigin } from '../../../infrastructure/http/index.js';
import { Transactional } from '../../../infrastructure/database/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { AuditLog, type AuditAction } from '../../audit-logs/index.js';
import type { ClientRecord } from '../../api-clients/index.js';
import { McpTokensService } from '../../mcp-tokens/index.js';
import { WebhookPublisher } from '../../webhooks/index.js';
import type { AgentConnection } from './agent-connection.entity.js';
import { AgentConnectionsRepository } from './agent-connections.repository.js';

/** Actor of entries about what users of a client do. The audit log does not name them. */
export const AGENT_USER = { name: 'user of an agent', email: 'user of an agent' };

/** Who ended a connection, for the audit log. */
export interface ConnectionEnd {
  readonly action: Extract<AuditAction, `agent.${string}`>;
  readonly actor: { readonly name: string; readonly email: string; readonly origin: RequestOrigin };
}

/** Ends connections of agents. */
@Injectable()
export class AgentConnectionsService {
  constructor(
    private readonly repository: AgentConnectionsRepository,
    private readonly mcpTokens: McpTokensService,
    private readonly publisher: WebhookPublisher,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  /**
   * Ends a connection with its tokens, and cancels the sign-in links that were created with them. Does nothing if the connection
   * has ended.
   */
  @Transactional()
  async end(client: ClientRecord, id: string, { action, actor }: ConnectionEnd): Promise<void> {
    const now = this.clock.now();
    if (!(await this.repository.end(id, now))) return;
    const connection = (await this.repository.findById(id)) as AgentConnection;
    const { clientId, externalUserId, agentName: name, agentHost: host } = connection;
    for (const { accessTokenHash: tokenHash, createdAt } of await this.repository.findAccessTokens(id, now))
      await this.mcpTokens.revokeByHash({ tokenHash, clientId, externalUserId }, createdAt);
    await this.publisher.publish(client, {
      event: 'AGENT_DISCONNECTED',
      externalUserId,
      data: { connection_id: id, agent: { name, host } },
    });
    await this.auditLog.record({
      action,
      actor: { ...actor, organizationId: client.organizationId },
      target: { name: `${name} (${host})`, environment: client.environment },
    });
  }
}
