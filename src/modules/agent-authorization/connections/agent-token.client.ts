import type { RequestOrigin } from '../../../infrastructure/http/index.js';
import type { AgentProvider } from '../settings/agent-settings.service.js';

/** The agent that sends a request to the token endpoint, of the API client that the path names. */
export interface TokenClient {
  readonly provider: AgentProvider;
  readonly agentId: string;
  readonly origin: RequestOrigin;
}
