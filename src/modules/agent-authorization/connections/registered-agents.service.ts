import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  AccessibleClients,
  type DashboardActor,
  type DashboardScope,
} from '../../../infrastructure/auth/index.js';
import { Transaction, Transactional } from '../../../infrastructure/database/index.js';
import { INVALID_FIELD } from '../../../infrastructure/errors/index.js';
import { dashboardPath } from '../../../infrastructure/http/index.js';
import { Clock } from '../../../infrastructure/time/index.js';
import { fieldError } from '../../../infrastructure/validation/index.js';
import { AuditLog } from '../../audit-logs/index.js';
import { displayNameOf, isRedirectUri } from '../agents/agent.js';
import { INVALID_REDIRECT_URI } from '../agents/agents.dto.js';
import { RegisteredAgent } from '../agents/registered-agent.entity.js';
import type { CreateAgentRequest } from '../settings/agent-settings.dto.js';
import { AgentConnectionEndsService } from './agent-connection-ends.service.js';
import { AGENT_NOT_FOUND } from '../agent-authorization-errors.js';

const MAX_AGENTS = 50;
const TOO_MANY_AGENTS = `An API client can have at most ${MAX_AGENTS} registered agents.`;

/** The agents that owners register for their users. */
@Injectable()
export class RegisteredAgentsService {
  constructor(
    private readonly transaction: Transaction,
    private readonly ends: AgentConnectionEndsService,
    private readonly accessibleClients: AccessibleClients,
    private readonly auditLog: AuditLog,
    private readonly clock: Clock,
  ) {}

  /**
   * Registers an agent for the users of an API client.
   *
   * @throws ApiError INVALID_FIELD
   */
  @Transactional()
  async register(
    actor: DashboardActor,
    { environment, name, redirect_uris: redirectUris }: CreateAgentRequest,
  ): Promise<void> {
    const { clientId } = await this.accessibleClients.forEnvironment(actor, environment);
    const refused = redirectUris.findIndex((uri) => !isRedirectUri(uri));
    if (refused >= 0)
      throw fieldError({
        field: 'redirect_uris',
        item: { index: refused, value: redirectUris[refused] },
        rule: (name) => `${name} cannot be used. ${INVALID_REDIRECT_URI.message}`,
      });
    await this.transaction.lock(`registered-agents ${clientId}`);
    if (
      (await this.transaction.manager.countBy(RegisteredAgent, { clientId, kind: 'registered' })) >=
      MAX_AGENTS
    )
      throw INVALID_FIELD.error(TOO_MANY_AGENTS, {
        field: 'name',
        inTheWay: { path: dashboardPath(environment, 'agents', 'settings'), name: 'Registered agents' },
      });
    const agent = {
      id: randomUUID(),
      clientId,
      kind: 'registered' as const,
      name: displayNameOf(name, redirectUris[0] ?? ''),
      redirectUris,
      createdAt: this.clock.now(),
    };
    await this.transaction.manager.insert(RegisteredAgent, agent);
    const target = { name: agent.name, environment };
    await this.auditLog.record({ action: 'agent.register', actor, target });
  }

  /** @throws ApiError NOT_FOUND also if the agent belongs to the other environment */
  async requireRegistered({ actor, environment }: DashboardScope, id: string): Promise<RegisteredAgent> {
    const { clientId } = await this.accessibleClients.forEnvironment(actor, environment);
    const where = { clientId, id, kind: 'registered' as const };
    return AGENT_NOT_FOUND.requireFound(await this.transaction.findById(RegisteredAgent, where));
  }

  /**
   * Removes a registered agent, with which its connections are refused. They end one page after another in the background.
   *
   * @throws ApiError NOT_FOUND
   */
  @Transactional()
  async remove({ actor, environment }: DashboardScope, id: string): Promise<void> {
    const { clientId, name } = await this.requireRegistered({ actor, environment }, id);
    // Waits for requests that exchange a code, and so create a connection.
    if (!(await this.transaction.deleteRow(RegisteredAgent, { id }))) throw AGENT_NOT_FOUND.error();
    const client = { clientId, environment, organizationId: actor.organizationId };
    await this.ends.endAllOf(client, id, { action: 'agent.disconnect', actor });
    await this.auditLog.record({ action: 'agent.remove', actor, target: { name, environment } });
  }
}
