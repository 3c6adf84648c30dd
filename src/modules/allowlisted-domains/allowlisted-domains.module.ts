import { Module } from '@nestjs/common';
import { AuditLogsModule } from '../audit-logs/index.js';
import { DOMAIN_PAGES } from './allowlisted-domains.pages.js';
import { AllowlistedDomainsService } from './allowlisted-domains.service.js';
import { DomainProofsService } from './domain-proofs.service.js';

@Module({
  imports: [AuditLogsModule],
  controllers: DOMAIN_PAGES,
  providers: [AllowlistedDomainsService, DomainProofsService],
  exports: [AllowlistedDomainsService],
})
export class AllowlistedDomainsModule {}
