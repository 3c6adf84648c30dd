import { Module } from '@nestjs/common';
import { AgentAuthorizationModule } from '../agent-authorization/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { MerchantAccountsModule } from '../merchant-accounts/index.js';
import { MerchantGatewayModule } from '../merchant-gateway/index.js';
import { OrganizationsModule } from '../organizations/index.js';
import { SignInLinksModule } from '../sign-in-links/index.js';
import { UserPage } from './user-page-steps.pages.js';
import { UserPageService } from './user-page.service.js';
import { UserSessions } from './user-sessions.js';
import './user-page.capability.js';

/** The page on which users of a partner see who acts for them, and end that. */
@Module({
  imports: [
    AgentAuthorizationModule,
    AuditLogsModule,
    MerchantAccountsModule,
    MerchantGatewayModule,
    OrganizationsModule,
    SignInLinksModule,
  ],
  controllers: [UserPage],
  providers: [UserPageService, UserSessions],
})
export class UserPageModule {}
