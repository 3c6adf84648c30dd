export { AgentAuthorizationModule } from './agent-authorization.module.js';
export type { AgentConnectionResponse } from './connections/agent-connections.dto.js';
export { AgentConnectionsService } from './connections/agent-connections.service.js';
export { AgentConnectionsRepository } from './connections/agent-connections.repository.js';
export { AgentSettingsService } from './settings/agent-settings.service.js';
