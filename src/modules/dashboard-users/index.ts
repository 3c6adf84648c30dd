export { DashboardUserOperationsModule } from './dashboard-user-operations.module.js';
export { DashboardPagesModule } from './dashboard-pages.module.js';
export { DashboardUsersModule } from './dashboard-users.module.js';
export { PasswordLinksService } from './passwords/password-links.service.js';
export { DashboardSessionsService } from './sessions/dashboard-sessions.service.js';
export { DashboardUsersService, type AddedDashboardUser } from './users/dashboard-users.service.js';
