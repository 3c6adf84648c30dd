export { AccessTokenVerifier } from './access-token-verifier.js';
export { BasicAuthGuard } from './basic-auth.guard.js';
export { BasicStrategy } from './basic.strategy.js';
export { BEARER_CHALLENGE, BearerStrategy } from './bearer.strategy.js';
export { ClientAuthGuard } from './client-auth.guard.js';
export { CallerClients, ENVIRONMENT_UNKNOWN_HERE } from './caller-clients.js';
export { Caller, callerOf } from './caller.js';
export { CredentialVerifier, type ApiCaller, type CredentialCheck } from './credential-verifier.js';
export { DashboardAuthGuard, FORGED } from './dashboard-auth.guard.js';
export {
  DASHBOARD_ROLES,
  dashboardCallerOf,
  DashboardUserCaller,
  requireEnvironment,
  SCOPES,
  type DashboardCaller,
  type DashboardIdentity,
  type DashboardPrincipal,
  type DashboardRole,
  type Scope,
} from './dashboard-caller.js';
export {
  DashboardPermissionGuard,
  NO_TOKEN,
  RequirePermission,
  STALE_LOGIN,
  type DashboardPermission,
} from './dashboard-permission.guard.js';
export { DashboardSessionVerifier } from './dashboard-session-verifier.js';
export { EnabledOperationGuard } from './enabled-operation.guard.js';
export { EnvironmentGuard } from './environment.guard.js';
export { RefusalRecorder, type AuditedAction } from './refusal-recorder.js';
export { clearSessionCookie, sessionTokenOf, setSessionCookie } from './session-cookie.js';
