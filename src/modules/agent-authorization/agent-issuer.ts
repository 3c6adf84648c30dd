import type { ClientRecord } from '../api-clients/index.js';
import type { AgentSetting } from './agent-setting.entity.js';

export type AgentSettings = Pick<
  AgentSetting,
  'agents' | 'hosts' | 'loginUrl' | 'returnHosts' | 'sandboxLogin'
>;

/** An API client whose users may connect agents: to agents, it is an issuer of tokens. */
export interface AgentIssuer extends ClientRecord {
  readonly settings: AgentSettings;
}
