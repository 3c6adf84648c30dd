export { DashboardLoginModule } from './dashboard-login.module.js';
export { PasswordLinksService } from './passwords/password-links.service.js';
export { DashboardSessionsService } from './sessions/dashboard-sessions.service.js';
export { UserLoginsService } from './user-logins.service.js';
