export { DashboardLoginModule } from './dashboard-login.module.js';
export {
  IdentityProviders,
  ProviderRequirement,
  type BegunLogin,
  type ProviderLogin,
} from './login/identity-providers.js';
export { loginBrowserOf, withNext, HOME, type LoginBrowser } from './login/login-form.js';
export { continuePage } from './login/login.pages.js';
export { LoginService, type OpenedLogin } from './login/login.service.js';
export { PasswordLinksService } from './passwords/password-links.service.js';
export { DashboardSessionsService } from './sessions/dashboard-sessions.service.js';
export { UserLoginsService } from './user-logins.service.js';
