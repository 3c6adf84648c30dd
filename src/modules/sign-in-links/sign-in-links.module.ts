import { Module } from '@nestjs/common';
import { AgentAuthorizationModule } from '../agent-authorization/index.js';
import { ApiClientsModule } from '../api-clients/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { McpTokensModule } from '../mcp-tokens/index.js';
import { MerchantAccountsModule } from '../merchant-accounts/index.js';
import { MerchantGatewayModule } from '../merchant-gateway/index.js';
import { MerchantStatusesModule } from '../merchant-statuses/index.js';
import { MerchantsModule } from '../merchants/index.js';
import { OrganizationsModule } from '../organizations/index.js';
import { SessionsModule } from '../sessions/index.js';
import { WebhooksModule } from '../webhooks/index.js';
import { MerchantSignIn } from './merchant-sign-in.js';
import { OpenedLinksService } from './opened-links.service.js';
import { SignInLinkCreationService } from './sign-in-link-creation.service.js';
import { SignInLinkSendingService } from './sign-in-link-sending.service.js';
import { SignInLinksController } from './sign-in-links.controller.js';
import { SignInLinksRepository } from './sign-in-links.repository.js';
import { SignInLinksService } from './sign-in-links.service.js';
import { SignInPage } from './sign-in.pages.js';
import { SIGN_IN_LINK_PAGES } from './sign-in-links.pages.js';
import { EndedLinksJob } from './ended-links.job.js';
import { SignInLoginsService } from './sign-in-logins.service.js';
import { SignInService } from './sign-in.service.js';
import './sign-in-links.capability.js';

/** Links with which users sign in to merchants at the request of an agent or a partner, and their pages. */
@Module({
  imports: [
    AgentAuthorizationModule,
    ApiClientsModule,
    AuditLogsModule,
    McpTokensModule,
    MerchantAccountsModule,
    MerchantGatewayModule,
    MerchantStatusesModule,
    MerchantsModule,
    OrganizationsModule,
    SessionsModule,
    WebhooksModule,
  ],
  controllers: [SignInLinksController, ...SIGN_IN_LINK_PAGES, SignInPage],
  providers: [
    SignInLinksService,
    SignInLinkCreationService,
    SignInLinkSendingService,
    SignInLoginsService,
    OpenedLinksService,
    SignInService,
    EndedLinksJob,
    SignInLinksRepository,
    MerchantSignIn,
  ],
  exports: [SignInLinksService, SignInLinkCreationService, MerchantSignIn],
})
export class SignInLinksModule {}
