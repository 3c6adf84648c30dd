export { DashboardUserOperationsModule } from './dashboard-user-operations.module.js';
export { DashboardUsersModule } from './dashboard-users.module.js';
export { DashboardSessions, type OpenedSession } from './sessions/dashboard-sessions.service.js';
export { DashboardUsersService, type AddedDashboardUser } from './users/dashboard-users.service.js';
