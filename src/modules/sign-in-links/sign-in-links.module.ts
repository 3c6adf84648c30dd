import { Module } from '@nestjs/common';
import { ApiClientsModule } from '../api-clients/index.js';
import { AuditLogsModule } from '../audit-logs/index.js';
import { McpTokensModule } from '../mcp-tokens/index.js';
import { MerchantGatewayModule } from '../merchant-gateway/index.js';
import { MerchantStatusesModule } from '../merchant-statuses/index.js';
import { MerchantsModule } from '../merchants/index.js';
import { OrganizationsModule } from '../organizations/index.js';
import { SessionsModule } from '../sessions/index.js';
import { WebhooksModule } from '../webhooks/index.js';
import { MerchantSignIn } from './merchant-sign-in.js';
import { SignInLinksController } from './sign-in-links.controller.js';
import { SignInLinksRepository } from './sign-in-links.repository.js';
import { SignInLinksService } from './sign-in-links.service.js';
import { SignInPages } from './sign-in.pages.js';
import { SIGN_IN_LINK_PAGES } from './sign-in-links.pages.js';
import { EndedLinksJob } from './ended-links.job.js';
import { SignInService } from './sign-in.service.js';

@Module({
  imports: [
    ApiClientsModule,
    AuditLogsModule,
    McpTokensModule,
    MerchantGatewayModule,
    MerchantStatusesModule,
    MerchantsModule,
    OrganizationsModule,
    SessionsModule,
    WebhooksModule,
  ],
  controllers: [SignInLinksController, ...SIGN_IN_LINK_PAGES, SignInPages],
  providers: [SignInLinksService, SignInService, EndedLinksJob, SignInLinksRepository, MerchantSignIn],
  exports: [SignInLinksService, MerchantSignIn],
})
export class SignInLinksModule {}
