import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { RecurringJob } from '../../../infrastructure/database/index.js';
import { SECOND } from '../../../infrastructure/time/index.js';
import { AgentConnectionEndsService } from './agent-connection-ends.service.js';
import { AgentConnectionsRepository } from './agent-connections.repository.js';

/** Publishes and records the ends of connections that ended together, one after another. */
@Injectable()
export class AgentConnectionEndsJob extends RecurringJob {
  constructor(
    private readonly connections: AgentConnectionsRepository,
    private readonly ends: AgentConnectionEndsService,
  ) {
    super('Agents', 'The ends of connections of agents were not published');
  }

  @Interval(SECOND)
  run(): Promise<void> {
    return this.start(async () => {
      for (let announced = true; announced && !this.stopped.aborted;) {
        announced = false;
        // Another process may be working on all of them.
        await this.forEach(await this.connections.unannounced(), async (id) => {
          if (await this.ends.announceEnd(id)) announced = true;
        });
      }
    });
  }
}
