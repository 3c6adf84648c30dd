import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { RecurringJob } from '../../../infrastructure/database/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { AgentConnectionEndsService } from './agent-connection-ends.service.js';
import { AgentConnectionsRepository } from './agent-connections.repository.js';

/** Ends the connections of agents that were removed: some hundreds of each agent in turn, because an agent can have very many. */
@Injectable()
export class AgentRemovalsJob extends RecurringJob {
  constructor(
    private readonly connections: AgentConnectionsRepository,
    private readonly ends: AgentConnectionEndsService,
  ) {
    super('Agents', 'The connections of a removed agent were not ended');
  }

  @Interval(SECOND)
  run(): Promise<void> {
    return this.start(async () => {
      for (let changed = true; changed && !this.stopped.aborted;) {
        changed = false;
        // Another process may be working on all of them.
        await this.forEach(await this.connections.removedAgents(), async (agentId) => {
          if (await this.ends.endPageOf(agentId)) changed = true;
        });
      }
    });
  }
}
