import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../infrastructure/database/index.js';
import { RegisteredAgent } from './registered-agent.entity.js';

@Injectable()
export class RegisteredAgentsRepository {
  constructor(private readonly transaction: Transaction) {}

  find(clientId: string, id: string): Promise<RegisteredAgent | null> {
    return this.transaction.manager.findOneBy(RegisteredAgent, { clientId, id });
  }

  async add(agent: RegisteredAgent): Promise<void> {
    await this.transaction.manager.insert(RegisteredAgent, agent);
  }

  /** Returns the agents that owners have registered. */
  findRegistered(clientId: string): Promise<RegisteredAgent[]> {
    const order = { name: 'ASC', id: 'ASC' } as const;
    return this.transaction.manager.find(RegisteredAgent, { where: { clientId, kind: 'registered' }, order });
  }

  /** Waits for other registrations by owners, so that together they cannot exceed the limit. */
  lockRegistrations(clientId: string): Promise<void> {
    return this.transaction.lock(`registered-agents ${clientId}`);
  }

  async remove(id: string): Promise<boolean> {
    return (await this.transaction.manager.delete(RegisteredAgent, { id })).affected === 1;
  }
}
