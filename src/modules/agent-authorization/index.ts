export { AgentAuthorizationModule } from './agent-authorization.module.js';
export { AgentConnectionsRepository } from './connections/agent-connections.repository.js';
export { AgentSettingsService } from './settings/agent-settings.service.js';
