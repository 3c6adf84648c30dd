import { Module } from '@nestjs/common';
import { ApiClientsModule } from '../api-clients/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { DashboardUsersModule } from '../dashboard-users/index.js';
import { ORGANIZATION_PAGES } from './organization.pages.js';
import { FirstOrganization } from './first-organization.js';
import { OrganizationsService } from './organizations.service.js';
import './organizations.capability.js';

/** The customers of the platform; the first organization of a new installation. */
@Module({
  imports: [ApiClientsModule, DashboardUsersModule, AuditLogsModule],
  controllers: ORGANIZATION_PAGES,
  providers: [OrganizationsService, FirstOrganization],
  exports: [OrganizationsService, FirstOrganization],
})
export class OrganizationsModule {}
