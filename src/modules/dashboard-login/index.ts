export { DashboardLoginModule, DashboardPagesModule } from './dashboard-login.module.js';
export { PasswordLinksService } from './passwords/password-links.service.js';
export { DashboardSessionsService } from './sessions/dashboard-sessions.service.js';
