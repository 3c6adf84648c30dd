import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AllowlistedDomainsModule } from '../allowlisted-domains/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { AccessGrant } from './access-grants/access-grant.entity.js';
import { ACCESS_GRANT_PAGES } from './access-grants/access-grants.pages.js';
import { AccessGrantsRepository } from './access-grants/access-grants.repository.js';
import { AccessGrantsService } from './access-grants/access-grants.service.js';
import { EmailsJob } from './emails/emails.job.js';
import { EmailsRepository } from './emails/emails.repository.js';
import { OutgoingEmail } from './emails/outgoing-email.entity.js';
import { RoleDenials } from './roles.js';
import { AdministratorEmails } from './users/administrator-emails.js';
import { DashboardUser } from './users/dashboard-user.entity.js';
import { DashboardUsersRepository } from './users/dashboard-users.repository.js';
import { DashboardUsersService } from './users/dashboard-users.service.js';
import { PasswordRules } from './users/password-rules.js';
import { PrincipalsBatch } from './users/principals.batch.js';
import { UserAdministrationService } from './users/user-administration.service.js';
import { USER_PAGES } from './users/users.pages.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([DashboardUser, AccessGrant, OutgoingEmail]),
    AllowlistedDomainsModule,
    AuditLogsModule,
  ],
  controllers: [...USER_PAGES, ...ACCESS_GRANT_PAGES],
  providers: [
    DashboardUsersService,
    DashboardUsersRepository,
    PasswordRules,
    PrincipalsBatch,
    UserAdministrationService,
    AccessGrantsService,
    AccessGrantsRepository,
    RoleDenials,
    AdministratorEmails,
    EmailsRepository,
    EmailsJob,
  ],
  exports: [
    EmailsRepository,
    PasswordRules,
    DashboardUsersService,
    UserAdministrationService,
    DashboardUsersRepository,
    AdministratorEmails,
  ],
})
export class DashboardUsersModule {}
