import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiClientsModule } from '../api-clients/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { DashboardUsersModule } from '../dashboard-users/index.js';
import { ORGANIZATION_PAGES } from './organization.pages.js';
import { FirstOrganization } from './first-organization.js';
import { Organization } from './organization.entity.js';
import { OrganizationsRepository } from './organizations.repository.js';
import { OrganizationsService } from './organizations.service.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([Organization]),
    ApiClientsModule,
    DashboardUsersModule,
    AuditLogsModule,
  ],
  controllers: ORGANIZATION_PAGES,
  providers: [OrganizationsService, OrganizationsRepository, FirstOrganization],
  exports: [OrganizationsService, OrganizationsRepository, FirstOrganization],
})
export class OrganizationsModule {}
