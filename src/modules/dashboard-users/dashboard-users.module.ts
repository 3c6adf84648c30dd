import { Module } from '@nestjs/common';
import { AllowlistedDomainsModule } from '../allowlisted-domains/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { ACCESS_GRANT_PAGES } from './access-grants/access-grants.pages.js';
import { AccessGrantsRepository } from './access-grants/access-grants.repository.js';
import { AccessGrantsService } from './access-grants/access-grants.service.js';
import { EmailsJob } from './emails/emails.job.js';
import { EmailsRepository } from './emails/emails.repository.js';
import { AdministratorEmails } from './users/administrator-emails.js';
import { DashboardUsersRepository } from './users/dashboard-users.repository.js';
import { DashboardUsersService } from './users/dashboard-users.service.js';
import { PasswordRules } from './users/password-rules.js';
import { PrincipalsBatch } from './users/principals.batch.js';
import { UserAdministrationService } from './users/user-administration.service.js';
import { USER_PAGES } from './pages/users.pages.js';
import './dashboard-users.capability.js';

const PROVIDERS = [
  DashboardUsersService,
  DashboardUsersRepository,
  PasswordRules,
  PrincipalsBatch,
  UserAdministrationService,
  AccessGrantsService,
  AccessGrantsRepository,
  AdministratorEmails,
  EmailsRepository,
  EmailsJob,
];

/** Dashboard users and their roles; access grants; emails to users. */
@Module({
  imports: [AllowlistedDomainsModule, AuditLogsModule],
  controllers: [...USER_PAGES, ...ACCESS_GRANT_PAGES],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class DashboardUsersModule {}
