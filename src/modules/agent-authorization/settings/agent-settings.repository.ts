import { Injectable } from '@nestjs/common';
import { In, IsNull, Not } from 'typeorm';
import { BatchedStatement, Transaction } from '../../../infrastructure/database/index.js';
import { AgentSetting } from './agent-setting.entity.js';

const CLIENTS_PER_STATEMENT = 100;
const CONCURRENT_STATEMENTS = 2;

@Injectable()
export class AgentSettingsRepository {
  private readonly lookups = new BatchedStatement<string, AgentSetting | undefined>({
    execute: async (clientIds) => {
      const found = await this.transaction.manager.findBy(AgentSetting, { clientId: In(clientIds) });
      return clientIds.map((clientId) => found.find((setting) => setting.clientId === clientId));
    },
    maxRows: CLIENTS_PER_STATEMENT,
    maxStatements: CONCURRENT_STATEMENTS,
    isRepeatable: true,
  });

  constructor(private readonly transaction: Transaction) {}

  /** Concurrent requests share a statement, unless a transaction is open. */
  async find(clientId: string): Promise<AgentSetting | undefined> {
    if (!this.transaction.isOpen) return this.lookups.add(clientId);
    return (await this.transaction.manager.findOneBy(AgentSetting, { clientId })) ?? undefined;
  }

  /** Returns how many development environments let anyone log in to the sandbox. */
  countOpenSandboxes(): Promise<number> {
    return this.transaction.manager.countBy(AgentSetting, {
      sandboxLogin: 'anyone',
      loginUrl: IsNull(),
      agents: Not('off'),
    });
  }

  async save(setting: AgentSetting): Promise<void> {
    await this.transaction.manager.upsert(AgentSetting, setting, ['clientId']);
  }
}
