export { AgentAuthorizationModule } from './agent-authorization.module.js';
export { AgentSettingsService } from './settings/agent-settings.service.js';
