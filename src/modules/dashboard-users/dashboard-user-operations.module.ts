import { Module } from '@nestjs/common';
import { AllowlistedDomainsModule } from '../allowlisted-domains/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { AccessGrantsController } from './access-grants/access-grants.controller.js';
import { AccessGrantsRepository } from './access-grants/access-grants.repository.js';
import { AccessGrantsService } from './access-grants/access-grants.service.js';
import { DashboardUsersModule } from './dashboard-users.module.js';
import { RoleDenials } from './role-denials.js';
import { UserAdministrationService } from './users/user-administration.service.js';
import { UsersController } from './users/users.controller.js';

/** The management of users and their access grants: only where the dashboard API is served. */
@Module({
  imports: [DashboardUsersModule, AllowlistedDomainsModule, AuditLogsModule],
  controllers: [UsersController, AccessGrantsController],
  providers: [UserAdministrationService, AccessGrantsService, AccessGrantsRepository, RoleDenials],
})
export class DashboardUserOperationsModule {}
