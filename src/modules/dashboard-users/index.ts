export { DashboardUsersModule } from './dashboard-users.module.js';
export { DashboardUsersService, type AddedDashboardUser } from './dashboard-users.service.js';
