import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiClientsModule } from '../api-clients/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { DashboardUsersModule } from '../dashboard-users/index.js';
import { AccountController } from './account.controller.js';
import { AccountService } from './account.service.js';
import { AccountsRepository } from './accounts.repository.js';
import { FirstOrganization } from './first-organization.js';
import { Organization } from './organization.entity.js';
import { OrganizationsRepository } from './organizations.repository.js';
import { OrganizationsService } from './organizations.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([Organization]), ApiClientsModule, DashboardUsersModule],
  providers: [OrganizationsService, OrganizationsRepository, FirstOrganization],
  exports: [OrganizationsService, FirstOrganization],
})
export class OrganizationsModule {}

/** What an organization does about its account, apart: only where the dashboard API is served. */
@Module({
  imports: [AuditLogsModule],
  controllers: [AccountController],
  providers: [AccountService, AccountsRepository],
})
export class AccountOperationsModule {}
