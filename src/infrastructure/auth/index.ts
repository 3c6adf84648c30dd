export { BasicAuthGuard } from './basic-auth.guard.js';
export { BasicStrategy } from './basic.strategy.js';
export { AccessTokenVerifier, BearerStrategy } from './bearer.strategy.js';
export { OAuthClientAuthGuard } from './oauth-client-auth.guard.js';
export { currentAgentOf, type AuthenticatedAgent } from './authenticated-agent.js';
export { McpTokenGuard } from './mcp-token.guard.js';
export { McpTokenStrategy, McpTokenVerifier } from './mcp-token.strategy.js';
export { AccessibleClients } from './accessible-clients.js';
export { CredentialsCheck } from './credentials-check.js';
export { CurrentOrganization, type RequestingOrganization } from './current-organization.js';
export { CurrentClient, currentClientOf } from './current-client.js';
export { FailedCredentials, type TooManyFailures } from './failed-credentials.js';
export { CredentialVerifier, type AuthenticatedClient, type CredentialCheck } from './credential-verifier.js';
export {
  CROSS_SITE_REQUEST,
  DashboardAuthGuard,
  DashboardSessionVerifier,
  SECOND_FACTOR_REQUIRED,
} from './dashboard-auth.guard.js';
export {
  DASHBOARD_ROLES,
  dashboardActorOf,
  CurrentActor,
  requireEnvironment,
  ROLE,
  SCOPE,
  SCOPES,
  type DashboardActor,
  type DashboardIdentity,
  type DashboardPrincipal,
  type DashboardRole,
  type Scope,
} from './dashboard-actor.js';
export {
  DashboardPermissionGuard,
  DenialRecorder,
  ExportRecorder,
  declarePermission,
  isRecentLogin,
  LOGIN_REQUIRED,
  mayPerform,
  permissionOf,
  RequirePermission,
  RECENT_LOGIN_REQUIRED,
  type AuditedAction,
  type DashboardPermission,
  type DeniedTarget,
} from './dashboard-permission.guard.js';
export { EnabledOperationGuard, EnvironmentGuard } from './client.guards.js';
export {
  INVALID_SERVICE_TOKEN,
  missingServiceScope,
  ServiceScopeGuard,
  ServiceTokenGuard,
} from './service-token.guard.js';
export {
  SERVICE_SCOPES,
  ServiceTokenStrategy,
  ServiceTokenVerifier,
  type AuthenticatedService,
  type ServiceScope,
} from './service-token.strategy.js';
export { clearSessionCookie, sessionTokenOf, setSessionCookie } from './session-cookie.js';
