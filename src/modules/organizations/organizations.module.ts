import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiClientsModule } from '../api-clients/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { DashboardUsersModule } from '../dashboard-users/index.js';
import { OrganizationController } from './organization.controller.js';
import { OrganizationAdministrationService } from './organization-administration.service.js';
import { FirstOrganization } from './first-organization.js';
import { Organization } from './organization.entity.js';
import { OrganizationsRepository } from './organizations.repository.js';
import { OrganizationsService } from './organizations.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([Organization]), ApiClientsModule, DashboardUsersModule],
  providers: [OrganizationsService, OrganizationsRepository, FirstOrganization],
  exports: [OrganizationsService, OrganizationsRepository, FirstOrganization],
})
export class OrganizationsModule {}

/** The operations. Loaded only where the dashboard API is served. */
@Module({
  imports: [OrganizationsModule, AuditLogsModule],
  controllers: [OrganizationController],
  providers: [OrganizationAdministrationService],
})
export class OrganizationOperationsModule {}
