export { AgentAuthorizationModule } from './agent-authorization.module.js';
export type {
  AgentConnectionListResponse,
  AgentConnectionResponse,
} from './connections/agent-connections.dto.js';
export { AgentConnectionsService } from './connections/agent-connections.service.js';
export { AgentConnectionsRepository } from './connections/agent-connections.repository.js';
export { AgentSettingsService } from './settings/agent-settings.service.js';
export type { AgentIssuer } from './agent-issuer.js';
export { CLIENT_USER } from './client-user.js';
export type { PageLogin } from './authorizations/identification.js';
export { IdentificationsService, type Identification } from './authorizations/identifications.service.js';
export { SCOPES_IN_WORDS } from './authorizations/authorization.pages.js';
