export { DashboardLoginModule } from './dashboard-login.module.js';
export {
  IdentityProviders,
  ProviderRequirement,
  type RequiredUser,
  type BegunLogin,
  type ProviderLogin,
} from './identity-providers.js';
export { loginBrowserOf, withNext, type LoginBrowser } from './login-form.js';
export { HOME } from './safe-redirect-path.js';
export { continuePage } from './login/login.pages.js';
export { LoginService } from './login/login.service.js';
export type { OpenedLogin } from './login/login-opening.service.js';
export { PasswordLinksService } from './passwords/password-links.service.js';
export { CurrentSessions } from './sessions/current-sessions.js';
export { DashboardSessionsService } from './sessions/dashboard-sessions.service.js';
export { UserLoginsService } from './user-logins.service.js';
