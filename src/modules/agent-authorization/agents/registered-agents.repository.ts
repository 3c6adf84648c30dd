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

  /** Records that a user has connected the agent, so that it is kept. */
  async markUsed(id: string): Promise<void> {
    await this.transaction.manager.update(RegisteredAgent, { id }, { unusedSince: null });
  }
}
