import { Injectable } from '@nestjs/common';
import type { AgentLogins } from '../../../infrastructure/auth/index.js';
import { ApiClientDirectory, type ClientRecord } from '../../api-clients/index.js';
import { AgentAddresses } from '../agent-addresses.js';
import type { AgentSetting } from './agent-setting.entity.js';
import { AgentSettingsRepository } from './agent-settings.repository.js';

export type AgentSettings = Pick<AgentSetting, 'agents' | 'hosts' | 'loginUrl'>;

/** An API client whose users may connect agents. */
export interface AgentProvider extends ClientRecord {
  readonly settings: AgentSettings;
}

/** The settings of API clients for agents that log in. */
@Injectable()
export class AgentSettingsService implements AgentLogins {
  constructor(
    private readonly repository: AgentSettingsRepository,
    private readonly clients: ApiClientDirectory,
    private readonly addresses: AgentAddresses,
  ) {}

  /** Returns the API client, unless agents cannot log in there. */
  async providerOf(clientId: string): Promise<AgentProvider | undefined> {
    const client = await this.clients.find(clientId);
    if (!client) return undefined;
    const settings = await this.of(client);
    return settings.agents === 'off' ? undefined : { ...client, settings };
  }

  async metadataUrlOf(clientId: string): Promise<string | undefined> {
    const provider = await this.providerOf(clientId);
    return provider && this.addresses.metadataUrlOf(provider.clientId);
  }

  /** Returns the stored settings, or the defaults: in production, an owner has to allow agents first. */
  async of({ clientId, environment }: Pick<ClientRecord, 'clientId' | 'environment'>): Promise<AgentSettings> {
    const stored = await this.repository.find(clientId);
    if (stored) return stored;
    return { agents: environment === 'development' ? 'any' : 'off', hosts: [], loginUrl: null };
  }
}
