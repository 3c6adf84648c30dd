export {
  RestrictedOperationGuard,
  EnvironmentGuard,
  INVALID_SERVICE_TOKEN,
  missingServiceScope,
  ServiceScopeGuard,
} from './access.guards.js';
export {
  BasicAuthGuard,
  BasicStrategy,
  CredentialsCheck,
  INVALID_API_KEYS,
  OAuthClientAuthGuard,
  OAuthClientStrategy,
} from './basic.strategy.js';
export { insufficientScope } from './bearer-token.js';
export {
  AccessTokenStrategy,
  McpTokenAuthGuard,
  McpTokenStrategy,
  ServiceTokenAuthGuard,
  ServiceTokenStrategy,
} from './bearer.strategy.js';
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
export { CROSS_SITE_REQUEST, DashboardAuthGuard, SECOND_FACTOR_REQUIRED } from './dashboard-auth.guard.js';
export {
  accessInWords,
  listPermissions,
  permissionOf,
  type AuditedAction,
  type DashboardOperationName,
  type DashboardPermission,
} from './dashboard-operations.js';
export {
  DashboardPermissionGuard,
  isRecentLogin,
  mayPerform,
  RequirePermission,
  RECENT_LOGIN_REQUIRED,
} from './dashboard-permission.guard.js';
export {
  AccessibleClients,
  AgentLogins,
  AuditRecorder,
  CredentialVerifier,
  DashboardSessionVerifier,
  OTHER_ENVIRONMENT,
  type CredentialCheck,
  type DeniedTarget,
  type TokenVerifier,
} from './ports.js';
export {
  AGENT_SCOPES,
  CurrentClient,
  agentKeyOf,
  currentAgentOf,
  currentClientOf,
  isDashboardUser,
  SERVICE_SCOPES,
  type AgentScope,
  type AuthenticatedAgent,
  type AuthenticatedClient,
  type AuthenticatedService,
  type RequestingOrganization,
  type ServiceScope,
} from './principals.js';
export { clearSessionCookie, sessionTokenOf, setSessionCookie } from './session-cookie.js';
