import { Injectable } from '@nestjs/common';
import { Transaction } from '../../../infrastructure/database/index.js';
import { AgentSetting } from './agent-setting.entity.js';

@Injectable()
export class AgentSettingsRepository {
  constructor(private readonly transaction: Transaction) {}

  find(clientId: string): Promise<AgentSetting | null> {
    return this.transaction.manager.findOneBy(AgentSetting, { clientId });
  }

  async save(setting: AgentSetting): Promise<void> {
    await this.transaction.manager.upsert(AgentSetting, setting, ['clientId']);
  }
}
