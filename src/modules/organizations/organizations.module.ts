import { Module } from '@nestjs/common';
import { ApiClientsModule } from '../api-clients/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { DashboardUsersModule } from '../dashboard-users/index.js';
import { OrganizationPagesController } from './organization-pages.controller.js';
import { FirstOrganization } from './first-organization.js';
import { OrganizationsRepository } from './organizations.repository.js';
import { OrganizationsService } from './organizations.service.js';

@Module({
  imports: [ApiClientsModule, DashboardUsersModule, AuditLogsModule],
  controllers: [OrganizationPagesController],
  providers: [OrganizationsService, OrganizationsRepository, FirstOrganization],
  exports: [OrganizationsService, OrganizationsRepository, FirstOrganization],
})
export class OrganizationsModule {}
