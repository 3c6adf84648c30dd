export { DASHBOARD_ROLES, type DashboardRole } from './dashboard-user.entity.js';
export { DashboardUsersModule } from './dashboard-users.module.js';
export { DashboardUsersService, type AddedDashboardUser } from './dashboard-users.service.js';
